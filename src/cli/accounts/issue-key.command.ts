import { Option, SubCommand } from 'nest-commander';
import type { Scope } from '../../modules/auth';
import { type ChangeOptions, ChangingCommand } from '../command/command';
import { withAccounts } from './account-services';
import { printKey } from '../output/output';
import { futureInstant } from '../command/parse';
import { UsageError } from '../command/command-failure';

interface IssueOptions extends ChangeOptions {
  client: string;
  scopes?: Scope[];
  expires?: Date;
}

@SubCommand({ name: 'issue', description: 'issue a key; it is shown only once' })
export class IssueKeyCommand extends ChangingCommand {
  protected override readonly examples = [
    'keys issue --client acme',
    'keys issue --client acme --scopes read --expires 2027-01-31',
    'keys issue --client acme --json',
  ];

  @Option({ flags: '--client <name>', description: 'client that the key is for', required: true })
  parseClient(text: string): string {
    return text;
  }

  @Option({ flags: '--scopes <scopes>', description: 'read, write or both (default: read,write)' })
  parseScopes(text: string): Scope[] {
    const scopes = [...new Set(text.split(','))];
    if (!scopes.every((scope) => scope === 'read' || scope === 'write')) {
      throw new UsageError(`--scopes takes read, write or read,write, not "${text}".`);
    }
    return scopes;
  }

  @Option({
    flags: '--expires <when>',
    description: 'a day (valid until its end, UTC) or a time such as 2027-01-31T12:00:00Z',
  })
  parseExpires(text: string): Date {
    return futureInstant('--expires', text, Date.now());
  }

  async run(
    _arguments: string[],
    { client, scopes, expires, reason, ...output }: IssueOptions,
  ): Promise<void> {
    const row = await withAccounts(async ({ keys, describeKey }) => {
      const { key, record } = await keys.issue({ client, scopes, expiresAt: expires });
      const { id, ...rest } = describeKey(record);
      return { id, key, ...rest };
    }, reason);
    await printKey(row, output);
  }
}
