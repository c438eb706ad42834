import { Command, SubCommand } from 'nest-commander';
import type { ClientOverview } from '../../modules/quotas/administration';
import { PETSTORE, printable } from '../../runtime/messages';
import {
  CommandGroup,
  ConfirmedCommand,
  type ConfirmedOptions,
  ReportingCommand,
  administerAccounts,
} from '../command/command';
import { confirm } from '../command/confirm';
import { type OutputOptions, isForPeople, print, printMany, printOne } from '../output/output';
import { TopQuotasCommand } from './top-quotas.command';
import { UsageCommand } from './usage.command';

/** Explains where the numbers come from. */
const NOTES: Readonly<Record<ClientOverview['redis'], string>> = {
  off:
    'The minute is what the running server has counted; of several without REDIS_URL, the one that counted most. ' +
    'The day may be one second behind.',
  answered: 'Read from Redis, which all instances share.',
  silent: 'Redis does not answer, so the current minute is unknown. The day may be one second behind.',
};

@SubCommand({
  name: 'show',
  arguments: '<client>',
  description: 'show what a client has used and has left, and the bans of its keys; changes nothing',
})
export class ShowQuotaCommand extends ReportingCommand {
  protected override readonly examples = ['quotas show acme', 'quotas show acme --json'];

  async run([name = '']: string[], options: OutputOptions): Promise<void> {
    const { QuotaOverview } = await import('../../modules/quotas/administration.js');
    const overview = await administerAccounts((services) => services.get(QuotaOverview).of(name));
    if (!isForPeople(options) || options.columns !== undefined) {
      await printOne({ ...overview }, options);
      return;
    }
    const { client, plan, minute, day, keys, redis } = overview;
    const unknown = minute.used === null ? 'not known' : null;
    await printOne({ client, plan }, options);
    print('');
    await printMany(
      [
        { window: 'minute', limit: minute.limit, ...orElse(minute, unknown) },
        { window: 'day', ...day },
      ],
      options,
      '',
    );
    print('');
    await printMany(keys, options, `No keys yet: ${PETSTORE} keys issue --client ${name}`);
    print(`\n${NOTES[redis]}`);
  }
}

/** Tells an unknown value (`unknown`) from a window that has not started (null). */
function orElse({ used, remaining, resetAt }: ClientOverview['minute'], unknown: string | null) {
  return { used: used ?? unknown, remaining: remaining ?? unknown, resetAt: resetAt ?? unknown };
}

@SubCommand({
  name: 'reset',
  arguments: '<client>',
  description:
    "restart a client's windows; applies on every instance within a second. Bans stay: see keys unban",
})
export class ResetQuotaCommand extends ConfirmedCommand {
  protected override readonly examples = [
    'quotas reset acme',
    'quotas reset acme --yes --reason "load test agreed"',
  ];

  async run([name = '']: string[], options: ConfirmedOptions): Promise<void> {
    const [{ ClientsService }, { QuotaResets }] = await Promise.all([
      import('../../modules/auth/administration.js'),
      import('../../modules/quotas/administration.js'),
    ]);
    const client = await administerAccounts(async (services) => {
      const found = await services.get(ClientsService).named(name);
      await confirm(`Give ${name} its full limits again?`, options.yes);
      await services.get(QuotaResets).reset(found.id);
      return found;
    }, options.reason);
    if (isForPeople(options)) {
      print(printable(`The windows of ${client.name} have been reset.`));
    } else {
      await printOne({ id: client.id, client: client.name, reset: true }, options);
    }
  }
}

const SUB_COMMANDS = [ShowQuotaCommand, TopQuotasCommand, UsageCommand, ResetQuotaCommand];

@Command({ name: 'quotas', description: 'show and reset what clients have used', subCommands: SUB_COMMANDS })
export class QuotasCommand extends CommandGroup {}

export const QUOTA_COMMANDS = [QuotasCommand, ...SUB_COMMANDS];
