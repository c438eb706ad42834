import { Command, Option, SubCommand } from 'nest-commander';
import { ClientsService, KeysService, describeKey } from '../../modules/auth';
import { AGREED_PLANS, InvalidPlanError, PLANS, agreedPlan, limitsOf } from '../../modules/quotas';
import { WebhookAdministration } from '../../modules/webhooks';
import { PETSTORE } from '../../runtime/messages';
import {
  type ChangeOptions,
  ChangingCommand,
  CommandGroup,
  ConfirmedCommand,
  type ConfirmedOptions,
  ListingCommand,
  ReportingCommand,
} from '../command/command';
import { UsageError } from '../command/command-failure';
import { confirm } from '../command/confirm';
import { clientName, wholeNumber } from '../command/parse';
import {
  type OutputOptions,
  type Row,
  counted,
  isForPeople,
  print,
  printMany,
  printOne,
} from '../output/output';

const PLAN = PLANS.join(', ').replace(/, (\w+)$/, ' or $1');
const AGREED_ONLY = `${AGREED_PLANS.join(' and ')} plan only`;
const LIMITS = { min: 1, max: 2_147_483_647 };

interface PlanOptions extends ChangeOptions {
  plan: string;
  perMinute?: number;
  perDay?: number;
}

/** A command that puts a client on a plan. */
abstract class PlanCommand extends ChangingCommand {
  @Option({ flags: '--per-minute <requests>', description: `requests per minute; ${AGREED_ONLY}` })
  parsePerMinute(text: string): number {
    return wholeNumber('--per-minute', text, LIMITS);
  }

  @Option({ flags: '--per-day <requests>', description: `requests per day; ${AGREED_ONLY}` })
  parsePerDay(text: string): number {
    return wholeNumber('--per-day', text, LIMITS);
  }
}

function chosenPlan({ plan, perMinute, perDay }: PlanOptions) {
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
  return { id, name, plan, perMinute, perDay, createdAt: createdAt.toISOString() };
}

@SubCommand({ name: 'create', description: 'create a client' })
export class CreateClientCommand extends PlanCommand {
  protected override readonly examples = [
    'clients create --name acme',
    'clients create --name acme --plan enterprise --per-minute 5000 --per-day 1000000',
  ];

  constructor(private readonly clients: ClientsService) {
    super();
  }

  @Option({ flags: '--name <name>', description: 'name of the client', required: true })
  parseName(text: string): string {
    return clientName(text);
  }

  @Option({ flags: '--plan <plan>', description: PLAN, defaultValue: 'free' })
  parsePlan(text: string): string {
    return text;
  }

  async run(_arguments: string[], options: PlanOptions & { name: string }): Promise<void> {
    const plan = chosenPlan(options);
    await this.store.open(options.reason);
    await printOne(describeClient(await this.clients.create(options.name, plan)), options);
  }
}

@SubCommand({ name: 'list', description: 'list all clients' })
export class ListClientsCommand extends ListingCommand {
  protected override readonly examples = ['clients list', 'clients list --sort plan --columns name,plan'];

  constructor(private readonly clients: ClientsService) {
    super();
  }

  async run(_arguments: string[], options: OutputOptions): Promise<void> {
    await this.store.open();
    const clients = await this.clients.list();
    await printMany(clients.map(describeClient), options, 'There are no clients yet.');
  }
}

@SubCommand({ name: 'show', arguments: '<name>', description: 'show a client and its keys' })
export class ShowClientCommand extends ReportingCommand {
  protected override readonly examples = ['clients show acme', 'clients show acme --output yaml'];

  constructor(
    private readonly clients: ClientsService,
    private readonly keys: KeysService,
  ) {
    super();
  }

  async run([name = '']: string[], options: OutputOptions): Promise<void> {
    await this.store.open();
    const row = describeClient(await this.clients.named(name));
    const keys = (await this.keys.list(name)).map((key) => describeKey(key, Date.now()));
    if (!isForPeople(options) || options.columns !== undefined) {
      await printOne({ ...row, keys }, options);
      return;
    }
    await printOne(row, options);
    print('');
    await printMany(keys, options, `No keys yet: ${PETSTORE} keys issue --client ${name}`);
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

  constructor(private readonly clients: ClientsService) {
    super();
  }

  @Option({ flags: '--plan <plan>', description: PLAN, required: true })
  parsePlan(text: string): string {
    return text;
  }

  async run([name = '']: string[], options: PlanOptions): Promise<void> {
    const plan = chosenPlan(options);
    await this.store.open(options.reason);
    await printOne(describeClient(await this.clients.setPlan(name, plan)), options);
  }
}

@SubCommand({
  name: 'rename',
  arguments: '<name> <new-name>',
  description: 'give a client another name; its keys keep working',
})
export class RenameClientCommand extends ChangingCommand {
  protected override readonly examples = ['clients rename acme acme-eu'];

  constructor(private readonly clients: ClientsService) {
    super();
  }

  async run([name = '', text = '']: string[], options: ChangeOptions): Promise<void> {
    const newName = clientName(text);
    await this.store.open(options.reason);
    await printOne(describeClient(await this.clients.rename(name, newName)), options);
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

  constructor(
    private readonly clients: ClientsService,
    private readonly keys: KeysService,
    private readonly webhooks: WebhookAdministration,
  ) {
    super();
  }

  async run([name = '']: string[], options: ConfirmedOptions): Promise<void> {
    await this.store.open(options.reason);
    const keys = (await this.keys.list(name)).map((key) => describeKey(key, Date.now()));
    const active = keys.filter(({ state }) => state === 'active').length;
    const webhooks = (await this.webhooks.list(name)).length;
    const ends = webhooks === 0 ? '' : ` and ends ${counted(webhooks, 'webhook', 'webhooks')}`;
    await confirm(`Delete ${name}, which cuts off ${counted(active, 'key', 'keys')}${ends}?`, options.yes);
    const client = await this.clients.delete(name);
    await printOne({ ...describeClient(client), deleted: true }, options);
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
