// What a line of a catalogue is: a category, or a pet, which refers to one above it.
import { exampleOf, Id, Integer, OneOf, ValidationFailedError, parseJson, validated } from '#libs/http';
import { NewCategoryDto } from '../categories';
import { STOCK_COUNT } from '../inventory';
import { NewPetDto } from '../pets';

/** How many there are of each. */
export interface CatalogueCounts {
  categories: number;
  pets: number;
}

const KINDS = ['category', 'pet'] as const;
const KIND = { description: 'What the line is.' };

export class CategoryLine extends NewCategoryDto {
  @OneOf(KINDS, KIND)
  kind!: 'category';

  /** What the pets of the file call it by; the store gives it another. */
  @Id({ description: 'Its id in the file.' })
  id!: number;
}

export class PetLine extends NewPetDto {
  @Integer({ ...STOCK_COUNT, description: 'By default, that of a new pet.', example: 3, optional: true })
  quantity?: number;

  @OneOf(KINDS, KIND)
  kind!: 'pet';

  /** Its id where it comes from; means nothing here. */
  @Id({ description: 'Its id in the file.', optional: true })
  id?: number;
}

export type CatalogueLine = CategoryLine | PetLine;

/** A line of each kind. */
export function exampleLines(): string[] {
  const category = { kind: 'category', id: 1, ...exampleOf(NewCategoryDto) };
  const pet = { kind: 'pet', ...exampleOf(NewPetDto), quantity: 3 };
  return [category, pet].map((line) => JSON.stringify(line));
}

/** Parses a line as bodies of requests are parsed. @throws ApiError if the line is not a JSON object */
export function parseObject(bytes: Buffer): object {
  const line = parseJson(bytes);
  if (typeof line !== 'object' || line === null || Array.isArray(line)) {
    throw new ValidationFailedError('must be a JSON object.');
  }
  return line;
}

/** @throws ApiError that names each wrong field and its valid values */
export function lineOf(line: object): CatalogueLine {
  const isCategory = 'kind' in line && line.kind === 'category';
  return { ...(isCategory ? validated(CategoryLine, line) : validated(PetLine, line)) };
}
