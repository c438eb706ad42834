import { Command, Option, SubCommand } from 'nest-commander';
import { PETSTORE } from '../../runtime/messages';
import { withAccounts } from './account-services';
import {
  type ChangeOptions,
  ChangingCommand,
  CommandGroup,
  ConfirmedCommand,
  type ConfirmedOptions,
  ListingCommand,
  ReportingCommand,
} from '../command/command';
import { confirm } from '../command/confirm';
import { type OutputOptions, counted, isForPeople, print, printMany, printOne } from '../output/output';
import { clientName } from '../command/parse';
import { PLAN, PlanCommand, type PlanOptions, chosenPlan } from './plan-command';

@SubCommand({ name: 'create', description: 'create a client' })
export class CreateClientCommand extends PlanCommand {
  protected override readonly examples = [
    'clients create --name acme',
    'clients create --name acme --plan enterprise --per-minute 5000 --per-day 1000000',
  ];

  @Option({ flags: '--name <name>', description: 'name of the client', required: true })
  parseName(text: string): string {
    return clientName(text);
  }

  @Option({ flags: '--plan <plan>', description: PLAN, defaultValue: 'free' })
  parsePlan(text: string): string {
    return text;
  }

  async run(_arguments: string[], options: PlanOptions & { name: string }): Promise<void> {
    const choice = await chosenPlan(options);
    const row = await withAccounts(async ({ clients, describeClient }) => {
      return describeClient(await clients.create(options.name, choice));
    }, options.reason);
    await printOne(row, options);
  }
}

@SubCommand({ name: 'list', description: 'list all clients' })
export class ListClientsCommand extends ListingCommand {
  protected override readonly examples = ['clients list', 'clients list --sort plan --columns name,plan'];

  async run(_arguments: string[], options: OutputOptions): Promise<void> {
    const rows = await withAccounts(async ({ clients, describeClient }) =>
      (await clients.list()).map(describeClient),
    );
    await printMany(rows, options, 'There are no clients yet.');
  }
}

@SubCommand({ name: 'show', arguments: '<name>', description: 'show a client and its keys' })
export class ShowClientCommand extends ReportingCommand {
  protected override readonly examples = ['clients show acme', 'clients show acme --output yaml'];

  async run([name = '']: string[], options: OutputOptions): Promise<void> {
    const { row, described } = await withAccounts(async ({ clients, keys, describeClient, describeKey }) => {
      const client = await clients.named(name);
      return { row: describeClient(client), described: (await keys.list(name)).map(describeKey) };
    });
    if (!isForPeople(options) || options.columns !== undefined) {
      await printOne({ ...row, keys: described }, options);
      return;
    }
    await printOne(row, options);
    print('');
    await printMany(described, options, `No keys yet: ${PETSTORE} keys issue --client ${name}`);
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

  @Option({ flags: '--plan <plan>', description: PLAN, required: true })
  parsePlan(text: string): string {
    return text;
  }

  async run([name = '']: string[], options: PlanOptions): Promise<void> {
    const choice = await chosenPlan(options);
    const row = await withAccounts(async ({ clients, describeClient }) => {
      return describeClient(await clients.setPlan(name, choice));
    }, options.reason);
    await printOne(row, options);
  }
}

@SubCommand({
  name: 'rename',
  arguments: '<name> <new-name>',
  description: 'give a client another name; its keys keep working',
})
export class RenameClientCommand extends ChangingCommand {
  protected override readonly examples = ['clients rename acme acme-eu'];

  async run([name = '', text = '']: string[], options: ChangeOptions): Promise<void> {
    const newName = clientName(text);
    const row = await withAccounts(async ({ clients, describeClient }) => {
      return describeClient(await clients.rename(name, newName));
    }, options.reason);
    await printOne(row, options);
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

  async run([name = '']: string[], options: ConfirmedOptions): Promise<void> {
    const row = await withAccounts(async ({ clients, keys, describeClient }) => {
      const { length } = (await keys.list(name)).filter(({ revokedAt }) => revokedAt === null);
      await confirm(`Delete ${name}, which cuts off ${counted(length, 'key', 'keys')}?`, options.yes);
      return { ...describeClient(await clients.delete(name)), deleted: true };
    }, options.reason);
    await printOne(row, options);
  }
}

const SUB_COMMANDS = [
  CreateClientCommand,
  ListClientsCommand,
  ShowClientCommand,
  SetPlanCommand,
  RenameClientCommand,
  DeleteClientCommand,
];

@Command({ name: 'clients', description: 'manage clients and their plans', subCommands: SUB_COMMANDS })
export class ClientsCommand extends CommandGroup {}

export const CLIENT_COMMANDS = [ClientsCommand, ...SUB_COMMANDS];
