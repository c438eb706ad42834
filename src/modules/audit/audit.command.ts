import { Inject } from '@nestjs/common';
import { Command } from 'nest-commander';
import { type Commander, type OutputOptions, StoreCommand, printMany, wholeNumber } from '#libs/command-line';
import { AuditTrail } from './audit-trail';

interface AuditOptions extends OutputOptions {
  client?: string;
  limit: number;
}

@Command({ name: 'audit', description: 'show who changed what, newest first' })
export class AuditCommand extends StoreCommand {
  readonly examples = ['audit', 'audit --client acme --limit 1000 --json'];
  @Inject() private readonly trail!: AuditTrail;

  declare(command: Commander): void {
    command
      .option(
        '--client <name>',
        'only changes to this client, including those under its former names and before its deletion',
      )
      .option('--limit <entries>', 'maximum number of entries', wholeNumber(1, 10_000), 50);
  }

  protected async execute(options: AuditOptions): Promise<void> {
    const entries = await this.trail.newest(options.limit, options.client);
    const rows = entries.map(({ id, at, actor, action, clientName, keyId, details }) => {
      return { id, at, actor, action, client: clientName, keyId, details };
    });
    printMany(rows, options, 'There are no such changes.', ['id', 'details', 'keyId']);
  }
}
