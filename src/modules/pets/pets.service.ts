import { Injectable } from '@nestjs/common';
import { Database, PageReader } from '#libs/database';
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, type Page, idBefore, pageOf } from '#libs/http';
import { Pet } from './pet.entity';
import { type ListPetsQuery, type PetDto, toPetDto } from './pets.dto';
import { PetNotFoundError } from './pets.errors';
import { selectPets } from './select-pets';

/** Reads of pets; the commands that change them have their own files. */
@Injectable()
export class PetsService {
  private readonly pages: PageReader<Pet, ListPetsQuery>;

  constructor(private readonly database: Database) {
    this.pages = new PageReader(database, Pet, selectPets);
  }

  async get(id: number): Promise<PetDto> {
    const pet = await this.database.find(Pet, id);
    if (pet?.deletedAt !== null) {
      throw new PetNotFoundError(id);
    }
    return toPetDto(pet);
  }

  /** With ids and without a limit, the page has all that were asked for. */
  async list(query: ListPetsQuery, caller?: number): Promise<Page<PetDto>> {
    const { id, status, categoryId, name } = query;
    const onlyIds = status === undefined && categoryId === undefined && name === undefined;
    const limit = query.limit ?? (id === undefined ? DEFAULT_PAGE_SIZE : MAX_PAGE_SIZE);
    if (id !== undefined && onlyIds) {
      return this.listById(id, idBefore(query.cursor), limit);
    }
    const { entries, lastId } = await this.pages.read({ ...query, limit }, caller);
    return { entries: entries.map(toPetDto), lastId };
  }

  private async listById(ids: number[], after: number, limit: number): Promise<Page<PetDto>> {
    const wanted = [...new Set(ids)].filter((id) => id > after);
    const pets = await Promise.all(wanted.map((id) => this.database.find(Pet, id)));
    const found = pets.flatMap((pet) => (pet?.deletedAt === null ? toPetDto(pet) : []));
    return pageOf(
      found.sort((a, b) => a.id - b.id),
      limit,
      ({ id }) => id,
    );
  }
}
