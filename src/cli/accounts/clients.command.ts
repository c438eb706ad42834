import { Inject } from '@nestjs/common';
import { Command, SubCommand } from 'nest-commander';
import { ClientsService, KeysService, describeKey } from '../../modules/auth';
import { AGREED_PLANS, InvalidPlanError, PLANS, agreedPlan, limitsOf } from '../../modules/quotas';
import { WebhookAdministration } from '../../modules/webhooks';
import { PETSTORE } from '../../runtime/messages';
import {
  ChangingCommand,
  CommandGroup,
  ConfirmedCommand,
  ListingCommand,
  ResultCommand,
} from '../command/command';
import { UsageError } from '../command/failure';
import { confirm } from '../command/operator';
import { Formerly, Value, anyText, clientName, positionOr, wholeNumber } from '../command/option';
import { type Row, counted, isForPeople, print, printMany, printOne } from '../output/output';

const PLAN = PLANS.join(', ').replace(/, (\w+)$/, ' or $1');
const AGREED_ONLY = `${AGREED_PLANS.join(' and ')} plan only`;
const requests = wholeNumber(1, 2_147_483_647);

/** A command that puts a client on a plan. */
abstract class PlanCommand extends ChangingCommand {
  @Inject() protected readonly clients!: ClientsService;

  @Value('--per-minute <requests>', `requests per minute; ${AGREED_ONLY}`, requests) perMinute?: number;
  @Value('--per-day <requests>', `requests per day; ${AGREED_ONLY}`, requests) perDay?: number;
  abstract plan: string;

  protected chosenPlan() {
    try {
      return agreedPlan(this.plan, this.perMinute, this.perDay);
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

@SubCommand({
  name: 'create',
  arguments: '[name]',
  argsDescription: { name: 'name of the client' },
  description: 'create a client',
})
export class CreateClientCommand extends PlanCommand {
  protected override readonly examples = [
    'clients create acme',
    'clients create acme --plan enterprise --per-minute 5000 --per-day 1000000',
  ];

  @Formerly('--name <name>', clientName) name?: string;
  @Value('--plan <plan>', PLAN, anyText, { defaultValue: 'free' }) plan!: string;

  async run([text]: string[]): Promise<void> {
    const name = positionOr('name', text, clientName, this.name);
    const plan = this.chosenPlan();
    await this.store.open(this.reason);
    await printOne(describeClient(await this.clients.create(name, plan)), this);
  }
}

@SubCommand({ name: 'list', description: 'list all clients' })
export class ListClientsCommand extends ListingCommand {
  protected override readonly examples = ['clients list', 'clients list --sort plan --columns name,plan'];
  @Inject() private readonly clients!: ClientsService;

  async run(): Promise<void> {
    await this.store.open();
    const clients = await this.clients.list();
    await printMany(clients.map(describeClient), this, 'There are no clients yet.');
  }
}

@SubCommand({ name: 'show', arguments: '<name>', description: 'show a client and its keys' })
export class ShowClientCommand extends ResultCommand {
  protected override readonly examples = ['clients show acme', 'clients show acme --output yaml'];
  @Inject() private readonly clients!: ClientsService;
  @Inject() private readonly keys!: KeysService;

  async run([name = '']: string[]): Promise<void> {
    await this.store.open();
    const row = describeClient(await this.clients.named(name));
    const keys = (await this.keys.list(name)).map((key) => describeKey(key, Date.now()));
    if (!isForPeople(this)) {
      await printOne({ ...row, keys }, this);
      return;
    }
    await printOne(row, this);
    print('');
    await printMany(keys, this, `No keys yet: ${PETSTORE} keys issue ${name}`);
  }
}

@SubCommand({
  name: 'set-plan',
  arguments: '<name>',
  description: 'change the plan of a client; applies from its next request',
})
export class SetPlanCommand extends PlanCommand {
  protected override readonly examples = [
    'clients set-plan acme --plan pro',
    'clients set-plan acme --plan enterprise --per-minute 5000 --per-day 1000000',
  ];

  @Value('--plan <plan>', PLAN, anyText, { required: true }) plan!: string;

  async run([name = '']: string[]): Promise<void> {
    const plan = this.chosenPlan();
    await this.store.open(this.reason);
    await printOne(describeClient(await this.clients.setPlan(name, plan)), this);
  }
}

@SubCommand({
  name: 'rename',
  arguments: '<name> <new-name>',
  description: 'give a client another name; its keys keep working',
})
export class RenameClientCommand extends ChangingCommand {
  protected override readonly examples = ['clients rename acme acme-eu'];
  @Inject() private readonly clients!: ClientsService;

  async run([name = '', text = '']: string[]): Promise<void> {
    const newName = clientName(text);
    await this.store.open(this.reason);
    await printOne(describeClient(await this.clients.rename(name, newName)), this);
  }
}

@SubCommand({
  name: 'delete',
  arguments: '<name>',
  description: 'delete a client with its keys and usage; the audit log keeps its entries',
})
export class DeleteClientCommand extends ConfirmedCommand {
  protected override readonly examples = [
    'clients delete acme',
    'clients delete acme --yes --reason "contract ended"',
  ];
  @Inject() private readonly clients!: ClientsService;
  @Inject() private readonly keys!: KeysService;
  @Inject() private readonly webhooks!: WebhookAdministration;

  async run([name = '']: string[]): Promise<void> {
    await this.store.open(this.reason);
    const keys = (await this.keys.list(name)).map((key) => describeKey(key, Date.now()));
    const active = keys.filter(({ state }) => state === 'active').length;
    const webhooks = (await this.webhooks.list(name)).length;
    const ends = webhooks === 0 ? '' : ` and ends ${counted(webhooks, 'webhook', 'webhooks')}`;
    await confirm(`Delete ${name}, which cuts off ${counted(active, 'key', 'keys')}${ends}?`, this.yes);
    const client = await this.clients.delete(name);
    await printOne({ ...describeClient(client), deleted: true }, this);
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
