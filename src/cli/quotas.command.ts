import { Command, Help, Option, SubCommand } from 'nest-commander';
import type { ClientOverview } from '../modules/quotas';
import { CommandGroup, ReportingCommand, administer, examples } from './command';
import { print, printMany, printOne } from './output';
import { wholeNumber } from './parse';
import { printable } from '../runtime/text';
import { PETSTORE } from '../runtime/command-name';

/** What people have to know of the numbers, by how far Redis had a part in them. */
const NOTES: Readonly<Record<ClientOverview['redis'], string>> = {
  off: 'Only the running server knows the current minute. The day may be one second behind.',
  answered: 'Read from Redis, which all instances share.',
  silent: 'Redis does not answer, so the current minute is unknown. The day may be one second behind.',
};

@SubCommand({
  name: 'show',
  arguments: '<client>',
  description: 'show what a client has used and has left, and the bans of its keys; changes nothing',
})
export class ShowQuotaCommand extends ReportingCommand {
  async run([name = '']: string[], { json }: { json?: boolean }): Promise<void> {
    const { QuotaOverview } = await import('../modules/quotas/index.js');
    const overview = await administer((services) => services.get(QuotaOverview).of(name));
    if (json) {
      printOne({ ...overview }, json);
      return;
    }
    const { client, plan, minute, day, keys, redis } = overview;
    printOne({ client, plan }, json);
    print('');
    printMany(
      [
        { window: 'minute', ...minute },
        { window: 'day', ...day },
      ],
      json,
      '',
    );
    print('');
    printMany(keys, json, `No keys yet: ${PETSTORE} keys issue --client ${name}`);
    print(`\n${NOTES[redis]}`);
  }
}

@SubCommand({ name: 'top', description: 'show the clients with the most requests, up to one second ago' })
export class TopQuotasCommand extends ReportingCommand {
  @Option({ flags: '--limit <clients>', description: 'number of clients', defaultValue: '10' })
  parseLimit(text: string): string {
    return text;
  }

  @Option({ flags: '--days <days>', description: 'number of UTC days, 1 to 90', defaultValue: '1' })
  parseDays(text: string): string {
    return text;
  }

  @Help('after')
  examples(): string {
    return examples('quotas top', 'quotas top --limit 3 --days 30');
  }

  async run(
    _arguments: string[],
    { limit, days, json }: { limit: string; days: string; json?: boolean },
  ): Promise<void> {
    const most = wholeNumber('--limit', limit, { min: 1, max: 1_000 });
    const lastDays = wholeNumber('--days', days, { min: 1, max: 90 });
    const { UsageRanking } = await import('../modules/quotas/index.js');
    const ranking = await administer((services) => services.get(UsageRanking).top(most, lastDays));
    printMany(ranking, json, 'There are no requests yet.');
  }
}

@SubCommand({
  name: 'reset',
  arguments: '<client>',
  description:
    "restart a client's windows; applies on every instance within a second. Bans stay: see keys unban",
})
export class ResetQuotaCommand extends ReportingCommand {
  async run([name = '']: string[], { json }: { json?: boolean }): Promise<void> {
    const [{ ClientsService }, { QuotaResets }] = await Promise.all([
      import('../modules/auth/index.js'),
      import('../modules/quotas/index.js'),
    ]);
    const client = await administer(async (services) => {
      const found = await services.get(ClientsService).named(name);
      await services.get(QuotaResets).reset(found.id);
      return found;
    });
    if (json) {
      printOne({ id: client.id, client: client.name, reset: true }, json);
    } else {
      print(printable(`The windows of ${client.name} have been reset.`));
    }
  }
}

@Command({
  name: 'quotas',
  description: 'show and reset what clients have used',
  subCommands: [ShowQuotaCommand, TopQuotasCommand, ResetQuotaCommand],
})
export class QuotasCommand extends CommandGroup {}

export const QUOTA_COMMANDS = [QuotasCommand, ShowQuotaCommand, TopQuotasCommand, ResetQuotaCommand];
