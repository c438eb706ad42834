import { setTimeout as sleep } from 'node:timers/promises';
import { Option, SubCommand } from 'nest-commander';
import type { UsageRanking } from '../../modules/quotas/administration';
import { ListingCommand, administerAccounts } from '../command/command';
import { CommandFailure, UsageError } from '../command/command-failure';
import { interruptible } from '../command/interruption';
import { type OutputOptions, print, printMany } from '../output/output';
import { wholeNumber } from '../command/parse';

interface TopOptions extends OutputOptions {
  limit: string;
  days: string;
  watch?: boolean;
}

const EVERY_MS = 2_000;
/** Clears the screen and keeps the scrollback. */
const CLEAR = '\u001b[H\u001b[2J';

@SubCommand({ name: 'top', description: 'show the clients with the most requests, up to one second ago' })
export class TopQuotasCommand extends ListingCommand {
  protected override readonly examples = [
    'quotas top',
    'quotas top --limit 3 --days 30',
    'quotas top --watch --sort -usedPercent',
  ];

  @Option({ flags: '--limit <clients>', description: 'number of clients', defaultValue: '10' })
  parseLimit(text: string): string {
    return text;
  }

  @Option({ flags: '--days <days>', description: 'number of UTC days, 1 to 90', defaultValue: '1' })
  parseDays(text: string): string {
    return text;
  }

  @Option({ flags: '-w, --watch', description: 'refresh every two seconds, until Ctrl-C' })
  parseWatch(): boolean {
    return true;
  }

  async run(_arguments: string[], options: TopOptions): Promise<void> {
    const most = wholeNumber('--limit', options.limit, { min: 1, max: 1_000 });
    const lastDays = wholeNumber('--days', options.days, { min: 1, max: 90 });
    const { UsageRanking: Ranking } = await import('../../modules/quotas/administration.js');
    const show = async (ranking: UsageRanking) =>
      printMany(await ranking.top(most, lastDays), options, 'There are no requests yet.');
    if (options.watch && !process.stdout.isTTY) {
      throw new UsageError('--watch needs a terminal.');
    }
    await administerAccounts((services) => {
      const ranking = services.get(Ranking);
      return options.watch ? watched(() => show(ranking)) : show(ranking);
    });
  }
}

/** Ctrl-C is the normal end. */
async function watched(show: () => Promise<void>): Promise<void> {
  try {
    await interruptible('nothing was changed', async (signal) => {
      for (;;) {
        process.stdout.write(CLEAR);
        await show();
        print(
          `\n${new Date().toISOString().slice(11, 19)} UTC, updated every two seconds. Press Ctrl-C to stop.`,
        );
        await sleep(EVERY_MS, undefined, { signal }).catch(() => signal.throwIfAborted());
      }
    });
  } catch (error) {
    if (!(error instanceof CommandFailure && error.code === 'interrupted')) {
      throw error;
    }
  }
}
