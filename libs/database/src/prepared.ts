import type { DataSource } from 'typeorm';
import { isLostStatement, isOutdatedStatement } from './postgres-errors';

/** A statement that bypasses the ORM, for the hot paths. */
export interface PreparedStatement {
  /**
   * Must always stand for the same text; each connection parses and plans it once. Without a name, each execution is
   * planned for its values.
   */
  name?: string;
  text: string;
}

/** A LIKE pattern for a prefix, with its wildcards escaped. */
export function namePrefix(text: string): string {
  return `${text.replace(/[\\%_]/g, '\\$&')}%`;
}

/** After this many sessions have lost statements, a pooler is assumed. */
const MAX_LOSERS = 2;

/**
 * The names of prepared statements on the connections of a data source. After a migration an outdated statement fails on
 * each connection that prepared it, so all statements get new names at once. Statements with old names are freed with
 * their connection.
 */
export class StatementNames {
  private generation = 0;
  private useful = true;
  private readonly losers = new Set<object>();

  /** The name to use now; undefined if the statement must be sent without a name. */
  current(name: string | undefined): string | undefined {
    if (name === undefined || !this.useful) {
      return undefined;
    }
    return this.generation === 0 ? name : `${name}.${this.generation}`;
  }

  /**
   * Reacts to the failure of a statement.
   * @param name the statement's own name
   * @param sent the name that it was sent with
   * @param session the session in which it failed
   */
  learnFrom(error: unknown, name: string | undefined, sent: string | undefined, session: object): void {
    if (isLostStatement(error)) {
      // A single loss can follow a failed preparation. Several mean a pooler, behind which names are useless.
      this.losers.add(session);
      this.useful = this.losers.size < MAX_LOSERS;
    } else if (isOutdatedStatement(error) && sent !== undefined && sent === this.current(name)) {
      // Several connections may fail for the same reason; only the first failure changes the names.
      this.generation += 1;
    }
  }
}

const namesOf = new WeakMap<DataSource, StatementNames>();

/** The names that all users of a data source share. */
export function statementNamesOf(dataSource: DataSource): StatementNames {
  let names = namesOf.get(dataSource);
  if (names === undefined) {
    names = new StatementNames();
    namesOf.set(dataSource, names);
  }
  return names;
}
