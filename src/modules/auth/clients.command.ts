import { Inject } from '@nestjs/common';
import { Command, SubCommand } from 'nest-commander';
import { ClientsService } from './clients.service';
import { KeysService, describeKey } from './keys.service';
import { AGREED_PLANS, InvalidPlanError, PLANS, agreedPlan, limitsOf } from '../quotas';
import { PETSTORE } from '../../runtime/messages';
import { CommandGroup, type Commander, type ConfirmedOptions, StoreCommand } from '../../cli/command/command';
import { UsageError } from '../../cli/command/failure';
import { confirm } from '../../cli/command/operator';
import { clientName, wholeNumber } from '../../cli/command/option';
import {
  type OutputOptions,
  type Row,
  print,
  printDone,
  printMany,
  printOne,
} from '../../cli/command/output';

const AGREED_ONLY = `${AGREED_PLANS.join(' and ')} plan only`;
const requests = wholeNumber(1, 2_147_483_647);

interface PlanOptions extends OutputOptions {
  plan: string;
  perMinute?: number;
  perDay?: number;
}

abstract class ClientCommand extends StoreCommand {
  @Inject() protected readonly clients!: ClientsService;
}

/** A command that puts a client on a plan. */
abstract class PlanCommand extends ClientCommand {
  protected override declare(command: Commander): void {
    command
      .option('--per-minute <requests>', `requests per minute; ${AGREED_ONLY}`, requests)
      .option('--per-day <requests>', `requests per day; ${AGREED_ONLY}`, requests)
      .hook('preAction', () => void planOf(command.opts()));
  }
}

function planOf({ plan, perMinute, perDay }: PlanOptions) {
  try {
    return agreedPlan(plan, perMinute, perDay);
  } catch (error) {
    throw error instanceof InvalidPlanError ? new UsageError(error.message) : error;
  }
}

type Client = Awaited<ReturnType<ClientsService['named']>>;

function describeClient(client: Client): Row {
  const { id, name, plan, createdAt } = client;
  const { perMinute, perDay } = limitsOf(client);
  return { id, name, plan, perMinute, perDay, createdAt };
}

@SubCommand({ name: 'create', description: 'create a client' })
export class CreateClientCommand extends PlanCommand {
  protected override readonly examples = [
    'clients create --name acme',
    'clients create --name acme --plan enterprise --per-minute 5000 --per-day 1000000',
  ];

  protected override declare(command: Commander): void {
    command
      .requiredOption('--name <name>', 'name of the client (required)', clientName)
      .addOption(command.createOption('--plan <plan>', 'what it may do').choices(PLANS).default('free'));
    super.declare(command);
  }

  protected async execute(_inputs: [], options: PlanOptions & { name: string }): Promise<void> {
    printOne(describeClient(await this.clients.create(options.name, planOf(options))), options);
  }
}

@SubCommand({ name: 'list', description: 'list all clients' })
export class ListClientsCommand extends ClientCommand {
  protected override readonly examples = ['clients list', 'clients list --json'];

  protected async execute(_inputs: [], options: OutputOptions): Promise<void> {
    printMany((await this.clients.list()).map(describeClient), options, 'There are no clients yet.');
  }
}

@SubCommand({ name: 'show', arguments: '<client>', description: 'show a client and its keys' })
export class ShowClientCommand extends ClientCommand {
  protected override readonly examples = ['clients show acme', 'clients show acme --json'];
  @Inject() private readonly keys!: KeysService;

  protected async execute([name]: [string], options: OutputOptions): Promise<void> {
    const row = describeClient(await this.clients.named(name));
    const keys = (await this.keys.list(name)).map((key) => describeKey(key));
    if (options.json) {
      printOne({ ...row, keys }, options);
      return;
    }
    printOne(row, options);
    print('');
    printMany(keys, options, `No keys yet: ${PETSTORE} keys issue --client ${name}`);
  }
}

@SubCommand({
  name: 'set-plan',
  arguments: '<client>',
  description: 'change the plan of a client; applies from its next request',
})
export class SetPlanCommand extends PlanCommand {
  protected override readonly examples = [
    'clients set-plan acme --plan pro',
    'clients set-plan acme --plan enterprise --per-minute 5000 --per-day 1000000',
  ];

  protected override declare(command: Commander): void {
    const plan = command.createOption('--plan <plan>', 'what it may do (required)').choices(PLANS);
    command.addOption(plan.makeOptionMandatory());
    super.declare(command);
  }

  protected async execute([name]: [string], options: PlanOptions): Promise<void> {
    printOne(describeClient(await this.clients.setPlan(name, planOf(options))), options);
  }
}

@SubCommand({ name: 'rename', description: 'give a client another name' })
export class RenameClientCommand extends ClientCommand {
  protected override readonly examples = ['clients rename acme acme-inc'];

  protected override declare(command: Commander): void {
    command.argument('<client>').argument('<name>', 'its new name', clientName);
  }

  protected async execute([name, newName]: [string, string], options: OutputOptions): Promise<void> {
    printOne(describeClient(await this.clients.rename(name, newName)), options);
  }
}

@SubCommand({
  name: 'delete',
  arguments: '<client>',
  description: 'delete a client: revoke its keys and end its webhooks within a second, and free its name',
})
export class DeleteClientCommand extends ClientCommand {
  protected override readonly examples = ['clients delete acme', 'clients delete acme --yes'];
  protected override readonly takesYes = true;

  protected async execute([name]: [string], options: ConfirmedOptions): Promise<void> {
    await this.clients.named(name);
    await confirm(`Delete ${name}, revoke its keys and end its webhooks, for good?`, options.yes);
    const { id } = await this.clients.remove(name);
    printDone(`${name} has been deleted.`, { id, name, deleted: true }, options);
  }
}

@Command({
  name: 'clients',
  description: 'manage clients and their plans',
  subCommands: [
    CreateClientCommand,
    ListClientsCommand,
    ShowClientCommand,
    SetPlanCommand,
    RenameClientCommand,
    DeleteClientCommand,
  ],
})
export class ClientsCommand extends CommandGroup {}
