import { Command, Help, Option, SubCommand } from 'nest-commander';
import { CommandGroup, ReportingCommand, administer, examples } from './command';
import { type Row, print, printMany, printOne } from './output';
import { clientName } from './parse';
import { PLAN, PlanCommand, type PlanOptions, chosenPlan } from './plan-command';
import { PETSTORE } from '../runtime/command-name';

interface ClientFields {
  id: number;
  name: string;
  plan: string;
  perMinute: number | null;
  perDay: number | null;
  createdAt: Date;
}

async function describe(client: ClientFields): Promise<Row> {
  const { limitsOf } = await import('../modules/quotas/index.js');
  const { perMinute, perDay } = limitsOf(client);
  const { id, name, plan, createdAt } = client;
  return { id, name, plan, perMinute, perDay, createdAt: createdAt.toISOString() };
}

@SubCommand({ name: 'create', description: 'create a client' })
export class CreateClientCommand extends PlanCommand {
  @Option({ flags: '--name <name>', description: 'name of the client', required: true })
  parseName(text: string): string {
    return clientName(text);
  }

  @Option({ flags: '--plan <plan>', description: PLAN, defaultValue: 'free' })
  parsePlan(text: string): string {
    return text;
  }

  @Help('after')
  examples(): string {
    return examples(
      'clients create --name acme',
      'clients create --name acme --plan enterprise --per-minute 5000 --per-day 1000000',
    );
  }

  async run(_arguments: string[], options: PlanOptions & { name: string }): Promise<void> {
    const choice = await chosenPlan(options);
    const { ClientsService } = await import('../modules/auth/index.js');
    const client = await administer((services) => services.get(ClientsService).create(options.name, choice));
    printOne(await describe(client), options.json);
  }
}

@SubCommand({ name: 'list', description: 'list all clients' })
export class ListClientsCommand extends ReportingCommand {
  async run(_arguments: string[], { json }: { json?: boolean }): Promise<void> {
    const { ClientsService } = await import('../modules/auth/index.js');
    const clients = await administer((services) => services.get(ClientsService).list());
    printMany(await Promise.all(clients.map(describe)), json, 'There are no clients yet.');
  }
}

@SubCommand({ name: 'show', arguments: '<name>', description: 'show a client and its keys' })
export class ShowClientCommand extends ReportingCommand {
  async run([name = '']: string[], { json }: { json?: boolean }): Promise<void> {
    const { ClientsService, KeysService, describeKey } = await import('../modules/auth/index.js');
    const [client, keys] = await administer(async (services) => {
      const found = await services.get(ClientsService).named(name);
      return [found, await services.get(KeysService).list(name)] as const;
    });
    const described = keys.map((key) => describeKey(key, Date.now()));
    const row = await describe(client);
    if (json) {
      printOne({ ...row, keys: described }, json);
      return;
    }
    printOne(row, json);
    print('');
    printMany(described, json, `No keys yet: ${PETSTORE} keys issue --client ${name}`);
  }
}

@SubCommand({
  name: 'set-plan',
  arguments: '<name>',
  description: 'change the plan of a client; applies from its next request',
})
export class SetPlanCommand extends PlanCommand {
  @Option({ flags: '--plan <plan>', description: PLAN, required: true })
  parsePlan(text: string): string {
    return text;
  }

  @Help('after')
  examples(): string {
    return examples(
      'clients set-plan acme --plan pro',
      'clients set-plan acme --plan enterprise --per-minute 5000 --per-day 1000000',
    );
  }

  async run([name = '']: string[], options: PlanOptions): Promise<void> {
    const choice = await chosenPlan(options);
    const { ClientsService } = await import('../modules/auth/index.js');
    const client = await administer((services) => services.get(ClientsService).setPlan(name, choice));
    printOne(await describe(client), options.json);
  }
}

@Command({
  name: 'clients',
  description: 'manage clients and their plans',
  subCommands: [CreateClientCommand, ListClientsCommand, ShowClientCommand, SetPlanCommand],
})
export class ClientsCommand extends CommandGroup {}

export const CLIENT_COMMANDS = [
  ClientsCommand,
  CreateClientCommand,
  ListClientsCommand,
  ShowClientCommand,
  SetPlanCommand,
];
