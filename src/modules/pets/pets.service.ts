import { Injectable } from '@nestjs/common';
import { Database, RowReader } from '#libs/database';
import { type Page, idBefore, pageOf } from '#libs/paging';
import { petListStatement } from './pet-list-statement';
import { Pet } from './pet.entity';
import { type ListPetsQuery, type PetDto, toPetDto } from './pets.dto';
import { PetNotFoundError } from './pets.errors';

/** Reads of pets; what changes them has files of its own. */
@Injectable()
export class PetsService {
  private readonly pets: RowReader<Pet>;

  constructor(private readonly database: Database) {
    this.pets = new RowReader(database, Pet);
  }

  async get(id: number): Promise<PetDto> {
    const pet = await this.pets.find(id);
    if (pet?.deletedAt !== null) {
      throw new PetNotFoundError(id);
    }
    return toPetDto(pet);
  }

  async list({ limit, cursor, ...filters }: ListPetsQuery): Promise<Page<PetDto>> {
    const after = idBefore(cursor);
    const { status, categoryId, name } = filters;
    const onlyIds = status === undefined && categoryId === undefined && name === undefined;
    if (filters.id !== undefined && onlyIds) {
      return this.listById(filters.id, after, limit);
    }
    const columns = this.database.table(Pet).names;
    const pets = await this.database.rows(Pet, petListStatement(columns, filters, after, limit + 1));
    return pageOf(pets.map(toPetDto), limit, ({ id }) => id);
  }

  private async listById(ids: number[], after: number, limit: number): Promise<Page<PetDto>> {
    const wanted = [...new Set(ids)].filter((id) => id > after);
    const pets = await Promise.all(wanted.map((id) => this.pets.find(id)));
    const found = pets.flatMap((pet) => (pet?.deletedAt === null ? toPetDto(pet) : []));
    return pageOf(
      found.sort((a, b) => a.id - b.id),
      limit,
      ({ id }) => id,
    );
  }
}
