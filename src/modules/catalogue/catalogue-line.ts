// One line of a catalogue file: its fields and their validation, and its columns in the database.
import { columnNames } from '#libs/database';
import { ApiError, Id, Integer, OneOf, ValidationFailedError, validated } from '#libs/http';
import { CATEGORY_COLUMNS, NewCategoryDto } from '../categories';
import { FIRST_QUANTITY, STOCK_COUNT } from '../inventory';
import { NewPetDto, PET_COLUMNS, PET_DEFAULTS } from '../pets';

export interface CategoryRecord {
  kind: 'category';
  id: number;
  name: string;
  description?: string;
}

/** The fields of a line that are copied unchanged, with the types of their columns. */
export const CATEGORY_LINE_FIELDS = CATEGORY_COLUMNS;
export const PET_LINE_FIELDS = `quantity integer, ${PET_COLUMNS}`;

/** The fields of an exported line after `kind`, selected from the columns of the store. */
export const CATEGORY_FIELDS = `id, ${columnNames(CATEGORY_COLUMNS)}`;
export const PET_FIELDS = 'id, name, category_id AS "categoryId", status, quantity';

/** A parsed line, or what is wrong with it. */
export type CatalogueLine = { record: CategoryRecord | PetRecord } | { problem: string };

const NO_JSON = 'must be a JSON object; it ends too early or has an unexpected character.';
const NO_CATEGORIES = 'kind must be pet: these pets go into categories that are there already.';
const KINDS = ['category', 'pet'];

class CategoryLine extends NewCategoryDto {
  @OneOf(KINDS, { description: 'That it is a category.' })
  kind!: 'category';

  @Id({ description: 'What the pets of the file call the category by; the store gives it another.' })
  id!: number;
}

class StockedPet extends NewPetDto {
  @Integer({
    ...STOCK_COUNT,
    description: 'Units in stock, those of a new pet when left out.',
    optional: true,
  })
  quantity?: number;
}

class PetLine extends StockedPet {
  @OneOf(KINDS, { description: 'That it is a pet.' })
  kind!: 'pet';

  @Id({ description: 'Its id where it comes from; means nothing here.', optional: true })
  id?: number;
}

/** A pet as in its line, with defaults filled in. */
export type PetRecord = PetLine & Required<Pick<PetLine, 'status' | 'quantity'>>;

/**
 * Parses a line. Never throws.
 * @param petsOnly the file may not hold categories
 */
export function readCatalogueLine(text: string, petsOnly = false): CatalogueLine {
  try {
    const record = recordOf(JSON.parse(text));
    return petsOnly && record.kind === 'category' ? { problem: NO_CATEGORIES } : { record };
  } catch (error) {
    return { problem: error instanceof ApiError ? error.message : NO_JSON };
  }
}

/** @throws ApiError whose message names each field and its valid values */
function recordOf(value: unknown): CategoryRecord | PetRecord {
  const line = asObject(value);
  if ('kind' in line && line.kind === 'category') {
    return { ...validated(CategoryLine, line) };
  }
  const { status = PET_DEFAULTS.status, ...pet } = validated(PetLine, line);
  // The store assigns a new one.
  delete pet.id;
  return { quantity: FIRST_QUANTITY[status], ...pet, status };
}

function asObject(value: unknown): object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ValidationFailedError('must be a JSON object.');
  }
  return value;
}
