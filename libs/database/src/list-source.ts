import type { EntityManager } from 'typeorm';
import { type PreparedStatement, prepared } from './prepared';
import type { Replica } from './replicas/replica';

/** A database to read a list from. */
export interface ListSource {
  /** Equal lists of sources with the same name may be read once for all. */
  readonly name: string;
  /**
   * Runs the statement of a list; it must do nothing but read.
   * @returns the rows as the driver hands them over
   * @throws what the primary's driver throws; never for the sake of a replica
   */
  rows<Row extends object>(statement: PreparedStatement, values: unknown[]): Promise<Row[]>;
}

export class PrimarySource implements ListSource {
  readonly name = 'primary';

  constructor(private readonly reader: EntityManager) {}

  rows<Row extends object>(statement: PreparedStatement, values: unknown[]): Promise<Row[]> {
    return prepared<Row>(this.reader, statement, values);
  }
}

/** A replica; what it cannot answer, the primary does. */
export class ReplicaSource implements ListSource {
  constructor(
    private readonly replica: Replica,
    private readonly primary: ListSource,
  ) {}

  get name(): string {
    return this.replica.name;
  }

  async rows<Row extends object>(statement: PreparedStatement, values: unknown[]): Promise<Row[]> {
    return (await this.replica.rows<Row>(statement, values)) ?? this.primary.rows<Row>(statement, values);
  }
}
