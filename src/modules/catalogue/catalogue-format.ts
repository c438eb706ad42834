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

/** Maximum number of bytes of a line, the same as for the body of a request. */
const MAX_LINE_BYTES = 64 * 1024;

/**
 * Splits a file into lines. Each character of a line stands for one byte of the file (`latin1`). If a line is too long,
 * the rest of the line is dropped, so that a long line does not fill the memory.
 */
export async function* linesOf(source: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of source) {
    const lines = (rest + chunk.toString('latin1')).split('\n');
    rest = lines.pop()!.slice(0, MAX_LINE_BYTES + 1);
    yield* lines;
  }
  if (rest !== '') {
    yield rest;
  }
}

/**
 * Parses a line of `linesOf` as strictly as the body of a request.
 * @throws ApiError if the line is too long, or is not a JSON object
 */
export function parseObject(text: string): object {
  if (text.length > MAX_LINE_BYTES) {
    throw new ValidationFailedError(`must be at most ${MAX_LINE_BYTES} bytes long.`);
  }
  const line = parseJson(Buffer.from(text, 'latin1'));
  if (typeof line !== 'object' || line === null || Array.isArray(line)) {
    throw new ValidationFailedError('must be a JSON object.');
  }
  return line;
}

export function lineOf(line: object): CatalogueLine {
  const isCategory = 'kind' in line && line.kind === 'category';
  return { ...(isCategory ? validated(CategoryLine, line) : validated(PetLine, line)) };
}
