import { Inject } from '@nestjs/common';
import { Command } from 'nest-commander';
import { Clock } from '#libs/clock';
import {
  argumentOrOption,
  assertNoSecret,
  type Commander,
  CommandGroup,
  confirm,
  type ConfirmedOptions,
  type Option,
  type OutputOptions,
  print,
  printDone,
  printMany,
  printOne,
  Subcommand,
  wholeNumber,
} from '#libs/command-line';
import { UsageError, shellWord } from '#libs/messages';
import { PETSTORE } from '../../program';
import { type Client, ClientsService } from '../auth';
import { LESS_IMPORTANT, declareClient, describeInList } from './keys.command';
import { AGREED_PLANS, PLANS, limitsOf } from './rules/limits';

const AGREED_ONLY = `${AGREED_PLANS.join(' and ')} plan only`;
const requests = wholeNumber(1, 2_147_483_647);

export function clientName(text: string): string {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/.test(text)) {
    throw new UsageError(
      'a client name is 1 to 100 ASCII letters, digits, dots, dashes and underscores, and begins with a letter or digit.',
    );
  }
  assertNoSecret(text);
  // Refuse a name of digits only. Commands accept a client's name or id, and try the name first, so such a name could
  // hide the client with this id.
  if (/^\d+$/.test(text)) {
    throw new UsageError(
      'a client name needs at least one character that is no digit, because numbers are ids.',
    );
  }
  return text;
}

const NO_CLIENTS = `There are no clients yet. Create one: ${PETSTORE} clients create <name>. Or set DATA_DIR or DATABASE_URL to another store.`;

interface PlanOptions extends OutputOptions {
  plan: string;
  perMinute?: number;
  perDay?: number;
}

function planOf({ plan, perMinute, perDay }: PlanOptions) {
  const isAgreed = AGREED_PLANS.some((agreed) => agreed === plan);
  if (isAgreed && (perMinute === undefined || perDay === undefined)) {
    throw new UsageError(`The plan ${plan} needs both --per-minute and --per-day.`);
  }
  if (!isAgreed && (perMinute !== undefined || perDay !== undefined)) {
    throw new UsageError(
      `The plan ${plan} has fixed limits; only ${AGREED_PLANS.join(' and ')} takes --per-minute and --per-day.`,
    );
  }
  return { plan, perMinute, perDay };
}

function planOption(command: Commander, description: string): Option {
  return command.createOption('--plan <plan>', description).choices(PLANS);
}

function declarePlan(command: Commander, plan: Option): void {
  command
    .addOption(plan)
    .option('--per-minute <requests>', `requests per minute; ${AGREED_ONLY}`, requests)
    .option('--per-day <requests>', `requests per day; ${AGREED_ONLY}`, requests)
    .hook('preAction', () => {
      planOf(command.opts());
    });
}

function describeClient(client: Client): object {
  const { id, name, plan, createdAt } = client;
  const { perMinute, perDay } = limitsOf(client);
  return { id, name, plan, perMinute, perDay, createdAt };
}

@Command({ name: 'clients', description: 'manage clients and their plans' })
export class ClientsCommand extends CommandGroup {
  @Inject() private readonly clients!: ClientsService;
  @Inject() private readonly clock!: Clock;

  @Subcommand({
    description: 'create a client',
    examples: [
      'clients create acme',
      'clients create acme --plan enterprise --per-minute 5000 --per-day 1000000',
    ],
    declare(command) {
      const terms = { isRequired: true, parse: clientName };
      argumentOrOption(command, '--name <name>', 'name of the client', terms);
      declarePlan(command, planOption(command, 'plan of the client').default('free'));
    },
  })
  async create(name: string, options: PlanOptions): Promise<void> {
    printOne(describeClient(await this.clients.create(name, planOf(options))), options);
  }

  @Subcommand({ description: 'list all clients', examples: ['clients list', 'clients list --json'] })
  async list(options: OutputOptions): Promise<void> {
    printMany((await this.clients.list()).map(describeClient), options, NO_CLIENTS, ['createdAt', 'perDay']);
  }

  @Subcommand({
    description: 'show a client and its keys',
    examples: ['clients show acme', 'clients show acme --json'],
    declare: declareClient,
  })
  async show(reference: string, options: OutputOptions): Promise<void> {
    const client = await this.clients.get(reference);
    const row = describeClient(client);
    const rotations = await this.clients.rotations();
    const keys = (await this.clients.listKeys(client.name)).map((key) =>
      describeInList(key, rotations, this.clock.now()),
    );
    if (options.json) {
      printOne({ ...row, keys }, options);
      return;
    }
    printOne(row, options);
    print('');
    const whenEmpty = `No keys yet: ${PETSTORE} keys issue ${shellWord(client.name)}`;
    printMany(keys, options, whenEmpty, LESS_IMPORTANT);
  }

  @Subcommand({
    description: 'change the plan of a client; applies from its next request',
    examples: [
      'clients set-plan acme --plan pro',
      'clients set-plan acme --plan enterprise --per-minute 5000 --per-day 1000000',
    ],
    declare(command) {
      declareClient(command);
      declarePlan(command, planOption(command, 'plan of the client (required)').makeOptionMandatory());
    },
  })
  async 'set-plan'(name: string, options: PlanOptions): Promise<void> {
    printOne(describeClient(await this.clients.setPlan(name, planOf(options))), options);
  }

  @Subcommand({
    description: 'give a client another name',
    examples: ['clients rename acme acme-inc'],
    declare: (command) =>
      command.argument('<client>', 'name or id of the client').argument('<name>', 'the new name', clientName),
  })
  async rename(name: string, newName: string, options: OutputOptions): Promise<void> {
    printOne(describeClient(await this.clients.rename(name, newName)), options);
  }

  @Subcommand({
    description: 'delete a client: revoke its keys and end its webhooks within a second, and free its name',
    examples: ['clients delete acme', 'clients delete acme --yes'],
    declare: declareClient,
    takesYes: true,
  })
  async delete(reference: string, options: ConfirmedOptions): Promise<void> {
    const { name } = await this.clients.get(reference);
    await confirm(`Delete ${name} for good, with its keys and webhooks?`, options.yes);
    const { id } = await this.clients.remove(name);
    printDone(`${name} has been deleted.`, { id, name, deleted: true }, options);
  }
}
