import type { DataSource } from 'typeorm';
import { isLostStatement, isOutdatedStatement } from './postgres-errors';

/** A statement that bypasses the ORM, for the hot paths. */
export interface PreparedStatement {
  /** Always stands for the same text; each connection parses and plans it once. Without a name it is planned for its values. */
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
 * The names under which the connections of a data source prepare their statements. A statement that a migration has
 * outdated fails on each connection that prepared it, so all of them get new names at once. What was prepared under the
 * old names is freed with its connection.
 */
export class StatementNames {
  private generation = 0;
  private useful = true;
  private readonly losers = new Set<object>();

  /** The name to use now; undefined when the statement is to be sent without one. */
  current(name: string | undefined): string | undefined {
    if (name === undefined || !this.useful) {
      return undefined;
    }
    return this.generation === 0 ? name : `${name}.${this.generation}`;
  }

  /**
   * Learns from what a statement failed with.
   * @param name as the statement calls itself
   * @param sent the name that it was sent under
   * @param session the one that it failed in
   */
  learnFrom(error: unknown, name: string | undefined, sent: string | undefined, session: object): void {
    if (isLostStatement(error)) {
      // Once is what follows a preparation that failed; behind a pooler that loses statements, names are of no use.
      this.losers.add(session);
      this.useful = this.losers.size < MAX_LOSERS;
    } else if (isOutdatedStatement(error) && sent !== undefined && sent === this.current(name)) {
      // Several connections fail for the same reason; the first of them has changed the names already.
      this.generation += 1;
    }
  }
}

const namesOf = new WeakMap<DataSource, StatementNames>();

/** The names that all who use a data source share. */
export function statementNamesOf(dataSource: DataSource): StatementNames {
  let names = namesOf.get(dataSource);
  if (names === undefined) {
    names = new StatementNames();
    namesOf.set(dataSource, names);
  }
  return names;
}
