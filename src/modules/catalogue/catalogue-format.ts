// The lines of a catalogue file are JSON objects. Each is a category, or a pet of a category on an earlier line.
import { exampleOf, Id, Integer, OneOf, ValidationFailedError, parseJson, validated } from '#libs/http';
import { NewCategoryDto } from '../categories';
import { STOCK_COUNT } from '../inventory';
import { NewPetDto } from '../pets';

export interface CatalogueCounts {
  categories: number;
  pets: number;
}

const KINDS = ['category', 'pet'] as const;
const KIND = { description: 'Whether the line describes a category or a pet.' };

export class CategoryLine extends NewCategoryDto {
  @OneOf(KINDS, KIND)
  kind!: 'category';

  /** The category's id in the file, which pets refer to. The store assigns a new id. */
  @Id({ description: 'Id of the category within the file.' })
  id!: number;
}

export class PetLine extends NewPetDto {
  @Integer({
    ...STOCK_COUNT,
    description: 'Units in stock. Without this field, the pet has one unit, as a new pet does.',
    example: 3,
    optional: true,
  })
  quantity?: number;

  @OneOf(KINDS, KIND)
  kind!: 'pet';

  @Id({ description: 'Id of the pet in the exported store. An import ignores this id.', optional: true })
  id?: number;
}

export type CatalogueLine = CategoryLine | PetLine;

export function exampleLines(): string[] {
  const { name } = exampleOf(NewCategoryDto);
  const category = { kind: 'category', id: 1, name };
  const pet = { kind: 'pet', ...exampleOf(NewPetDto), quantity: 3 };
  return [category, pet].map((line) => JSON.stringify(line));
}

/** Parses a line as strictly as the body of a request. @throws ApiError if the line is not a JSON object */
export function parseObject(bytes: Buffer): object {
  const line = parseJson(bytes);
  if (typeof line !== 'object' || line === null || Array.isArray(line)) {
    throw new ValidationFailedError('must be a JSON object.');
  }
  return line;
}

export function lineOf(line: object): CatalogueLine {
  const isCategory = 'kind' in line && line.kind === 'category';
  return { ...(isCategory ? validated(CategoryLine, line) : validated(PetLine, line)) };
}
