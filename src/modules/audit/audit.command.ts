import { Inject } from '@nestjs/common';
import { Command } from 'nest-commander';
import {
  argumentOrOption,
  type Commander,
  type OutputOptions,
  StoreCommand,
  printMany,
  wholeNumber,
} from '#libs/command-line';
import { AuditTrail } from './audit-trail';

interface AuditOptions extends OutputOptions {
  limit: number;
}

@Command({ name: 'audit', description: 'show who changed what, newest first' })
export class AuditCommand extends StoreCommand {
  readonly examples = ['audit', 'audit acme --limit 1000 --json'];
  @Inject() private readonly trail!: AuditTrail;

  declare(command: Commander): void {
    const client = 'only changes to the client that has or had this name, or has this id';
    argumentOrOption(command, '--client <client>', client);
    command.option('--limit <entries>', 'maximum number of entries', wholeNumber(1, 10_000), 50);
  }

  protected async execute(client: string | undefined, options: AuditOptions): Promise<void> {
    const entries = await this.trail.newest(options.limit, client);
    const rows = entries.map(({ id, at, actorKind, actor: name, action, clientName, keyId, details }) => {
      // The actor is a key only if the entry is about an automatic ban: a key that exceeds the limits too often is
      // banned.
      const actor = actorKind === 'key' ? `key ${name} (automatic)` : name;
      return { id, at, actor, action, client: clientName, keyId, details };
    });
    const ofClient = client === undefined ? '' : ` to a client ${client}`;
    printMany(rows, options, `There are no changes${ofClient}.`, ['id', 'details', 'keyId']);
  }
}
