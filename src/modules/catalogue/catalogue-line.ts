// One line of a catalogue file: its fields, and their validation as in the bodies of POST.
import { ApiError, Id, Integer, OneOf, ValidationFailedError, validated } from '#libs/http';
import { NewCategoryDto } from '../categories';
import { STOCK_COUNT } from '../inventory';
import { NewPetDto } from '../pets';

/** A parsed line, or what is wrong with it. */
export type CatalogueLine = { record: CategoryLine | PetLine } | { problem: string };

const NO_JSON = 'must be a JSON object; it ends too early or has an unexpected character.';
const KINDS = ['category', 'pet'];

export class CategoryLine extends NewCategoryDto {
  @OneOf(KINDS, { description: 'That it is a category.' })
  kind!: 'category';

  @Id({ description: 'What the pets of the file call the category by; the store gives it another.' })
  id!: number;
}

export class PetLine extends NewPetDto {
  @OneOf(KINDS, { description: 'That it is a pet.' })
  kind!: 'pet';

  @Id({ description: 'Its id where it comes from; means nothing here.', optional: true })
  id?: number;

  @Integer({ ...STOCK_COUNT, description: 'Units in stock; default: those of a new pet.', optional: true })
  quantity?: number;
}

/** Parses a line. Never throws; a problem names each field and its valid values. */
export function readCatalogueLine(text: string): CatalogueLine {
  try {
    const line: unknown = JSON.parse(text);
    if (typeof line !== 'object' || line === null || Array.isArray(line)) {
      throw new ValidationFailedError('must be a JSON object.');
    }
    const isCategory = 'kind' in line && line.kind === 'category';
    return { record: { ...(isCategory ? validated(CategoryLine, line) : validated(PetLine, line)) } };
  } catch (error) {
    return { problem: error instanceof ApiError ? error.message : NO_JSON };
  }
}
