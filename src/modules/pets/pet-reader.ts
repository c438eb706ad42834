import { Injectable } from '@nestjs/common';
import { Coalescer, SharedReads } from '#libs/coalescing';
import { Database, int8ToNumber, prepared } from '#libs/database';
import { type Page, idBefore, pageOf } from '#libs/paging';
import { petListStatement } from './pet-list-statement';
import { PET_COLUMNS, type PetRow, petOf } from './pet-row';
import type { ListPetsQuery, PetDto } from './pets.dto';

const PETS_BY_ID = {
  name: 'pets-by-id',
  text: `SELECT ${PET_COLUMNS} FROM pets WHERE id = ANY($1) AND deleted_at IS NULL`,
};
const MAX_BATCH = 500;

/**
 * Reads of pets outside of transactions, many requests to a statement: those that come while one is under way share the
 * next. What a request gets was read after it came, so it is never older than what its client has written.
 */
@Injectable()
export class PetReader {
  private readonly pets = new Coalescer<number, PetDto>({
    maxBatch: MAX_BATCH,
    loadMany: (ids) => this.readMany(ids),
  });
  private readonly pages = new SharedReads<string, Page<PetDto>>();

  constructor(private readonly database: Database) {}

  /** The pet as it is answered; null when there is none. */
  find(id: number): Promise<PetDto | null> {
    return this.pets.load(id);
  }

  list(query: ListPetsQuery): Promise<Page<PetDto>> {
    const { limit, cursor, ...filters } = query;
    const after = idBefore(cursor);
    return this.pages.read(JSON.stringify(query), async () => {
      const { values, ...statement } = petListStatement(filters, after, limit + 1);
      const rows = await prepared<PetRow>(this.database.reader, statement, values);
      return pageOf(rows.map(petOf), limit, ({ id }) => id);
    });
  }

  private async readMany(ids: number[]): Promise<Map<number, PetDto>> {
    const rows = await prepared<PetRow>(this.database.reader, PETS_BY_ID, [ids]);
    return new Map(rows.map((row) => [int8ToNumber(row.id), petOf(row)]));
  }
}
