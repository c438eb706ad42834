import { Inject } from '@nestjs/common';
import { Command, SubCommand } from 'nest-commander';
import { ClientsService } from './clients.service';
import { KeysService, describeKey } from './keys.service';
import { AGREED_PLANS, InvalidPlanError, PLANS, agreedPlan, limitsOf } from '../quotas';
import { PETSTORE } from '../../runtime/messages';
import {
  CommandGroup,
  type Commander,
  type ConfirmedOptions,
  ResultCommand,
} from '../../cli/command/command';
import { UsageError } from '../../cli/command/failure';
import { confirm } from '../../cli/command/operator';
import { clientName, wholeNumber } from '../../cli/command/option';
import {
  type OutputOptions,
  type Row,
  isForPeople,
  print,
  printDone,
  printMany,
  printOne,
} from '../../cli/command/output';

const PLAN = PLANS.join(', ').replace(/, (\w+)$/, ' or $1');
const AGREED_ONLY = `${AGREED_PLANS.join(' and ')} plan only`;
const requests = wholeNumber(1, 2_147_483_647);

interface PlanOptions extends OutputOptions {
  plan: string;
  perMinute?: number;
  perDay?: number;
}

abstract class ClientCommand extends ResultCommand {
  @Inject() protected readonly clients!: ClientsService;
}

/** A command that puts a client on a plan. */
abstract class PlanCommand extends ClientCommand {
  override accept(commander: Commander): void {
    commander
      .option('--per-minute <requests>', `requests per minute; ${AGREED_ONLY}`, requests)
      .option('--per-day <requests>', `requests per day; ${AGREED_ONLY}`, requests);
  }

  protected planOf({ plan, perMinute, perDay }: PlanOptions) {
    try {
      return agreedPlan(plan, perMinute, perDay);
    } catch (error) {
      throw error instanceof InvalidPlanError ? new UsageError(error.message) : error;
    }
  }
}

type Client = Awaited<ReturnType<ClientsService['named']>>;

function describeClient(client: Client): Row {
  const { id, name, plan, createdAt } = client;
  const { perMinute, perDay } = limitsOf(client);
  return { id, name, plan, perMinute, perDay, createdAt: createdAt.toISOString() };
}

@SubCommand({ name: 'create', description: 'create a client' })
export class CreateClientCommand extends PlanCommand {
  protected override readonly examples = [
    'clients create --name acme',
    'clients create --name acme --plan enterprise --per-minute 5000 --per-day 1000000',
  ];

  override accept(commander: Commander): void {
    commander.requiredOption('--name <name>', 'name of the client', clientName);
    commander.option('--plan <plan>', PLAN, 'free');
    super.accept(commander);
  }

  async work(_inputs: string[], options: PlanOptions & { name: string }): Promise<void> {
    const plan = this.planOf(options);
    await this.store.open();
    printOne(describeClient(await this.clients.create(options.name, plan)), options);
  }
}

@SubCommand({ name: 'list', description: 'list all clients' })
export class ListClientsCommand extends ClientCommand {
  protected override readonly examples = ['clients list', 'clients list --output csv'];

  async work(_inputs: string[], options: OutputOptions): Promise<void> {
    await this.store.open();
    const clients = await this.clients.list();
    printMany(clients.map(describeClient), options, 'There are no clients yet.');
  }
}

@SubCommand({ name: 'show', arguments: '<client>', description: 'show a client and its keys' })
export class ShowClientCommand extends ClientCommand {
  protected override readonly examples = ['clients show acme', 'clients show acme --json'];
  @Inject() private readonly keys!: KeysService;

  async work([name = '']: string[], options: OutputOptions): Promise<void> {
    await this.store.open();
    const row = describeClient(await this.clients.named(name));
    const keys = (await this.keys.list(name)).map((key) => describeKey(key, Date.now()));
    if (!isForPeople(options)) {
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

  override accept(commander: Commander): void {
    commander.requiredOption('--plan <plan>', PLAN);
    super.accept(commander);
  }

  async work([name = '']: string[], options: PlanOptions): Promise<void> {
    const plan = this.planOf(options);
    await this.store.open();
    printOne(describeClient(await this.clients.setPlan(name, plan)), options);
  }
}

@SubCommand({ name: 'rename', arguments: '<client> <name>', description: 'give a client another name' })
export class RenameClientCommand extends ClientCommand {
  protected override readonly examples = ['clients rename acme acme-inc'];

  async work([name = '', text = '']: string[], options: OutputOptions): Promise<void> {
    const newName = clientName(text);
    await this.store.open();
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
  protected override readonly asks = true;

  async work([name = '']: string[], options: ConfirmedOptions): Promise<void> {
    await this.store.open();
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
