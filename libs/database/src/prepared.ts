import type { DataSource } from 'typeorm';
import { isLostStatement, isOutdatedStatement } from './postgres-errors';

/** A statement that goes past the ORM: for the few that most requests are. */
export interface PreparedStatement {
  /** Always stands for the same text; each connection parses and plans it once. Without a name it is planned for its values. */
  name?: string;
  text: string;
}

/** A LIKE pattern for what begins with this text; its own wildcards stand for themselves. */
export function namePrefix(text: string): string {
  return `${text.replace(/[\\%_]/g, '\\$&')}%`;
}

/**
 * The names under which the connections of a data source prepare their statements. A statement that has become useless
 * fails on each connection that prepared it, for as long as that lives, so all of them are told at once: by names that
 * none of them knows. What was prepared under the old ones goes with its connection.
 */
export class StatementNames {
  private generation = 0;
  private useful = true;

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
   * @returns true when it may be sent again under its name of now; in a transaction, after the rollback
   */
  learnFrom(error: unknown, name: string | undefined, sent: string | undefined): boolean {
    if (isLostStatement(error)) {
      // Behind a pooler that does this, names are of no use.
      this.useful = false;
      return true;
    }
    if (!isOutdatedStatement(error)) {
      return false;
    }
    // Several connections fail for the same reason; the first of them has changed the names already.
    if (sent !== undefined && sent === this.current(name)) {
      this.generation += 1;
    }
    return true;
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
