// What a line of a catalogue is: an entry of a list such as categories, or a pet, which refers to one.
import { Inject, Injectable, type Type } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import type { Origin } from '#libs/database';
import {
  ApiError,
  exampleOf,
  Id,
  Integer,
  MalformedJsonError,
  OneOf,
  type Page,
  ValidationFailedError,
  parseJson,
  validated,
} from '#libs/http';
import { STOCK_COUNT } from '../inventory';
import { NewPetDto } from '../pets';

/** A list that refers to no other. Its entries have names, and are in a table that is called like `plural`. */
export interface CatalogueList {
  kind: string;
  plural: string;
  /** The body that creates an entry. */
  body: Type<object>;
  service: Type<ListService>;
}

export interface ListService {
  list(page: { limit: number; cursor?: string }): Promise<Page<{ id: number }>>;
  create(body: object, origin: Origin): Promise<{ id: number }>;
}

/** All lists of the store; the assembly has them. */
export const CATALOGUE_LISTS = Symbol('catalogue lists');

type Kind = Pick<CatalogueList, 'kind' | 'plural' | 'body'>;

/** How many there are of each kind; `1 category and 2 pets`. */
export class CatalogueSize {
  /** By plural. */
  readonly counts: Record<string, number>;

  constructor(private readonly kinds: readonly Kind[]) {
    this.counts = Object.fromEntries(kinds.map(({ plural }) => [plural, 0]));
  }

  get total(): number {
    return Object.values(this.counts).reduce((sum, count) => sum + count);
  }

  inWords(): string {
    const named = this.kinds.map(({ kind, plural }) => {
      const count = this.counts[plural]!;
      return `${count.toLocaleString('en-US')} ${count === 1 ? kind : plural}`;
    });
    return new Intl.ListFormat('en').format(named);
  }
}

export interface ListLine {
  kind: string;
  /** What the pets of the file call it by; the store gives it another. */
  id: number;
  name: string;
}

class PetFields extends NewPetDto {
  @Integer({ ...STOCK_COUNT, description: 'By default, that of a new pet.', example: 3, optional: true })
  quantity?: number;
}

export interface PetLine extends PetFields {
  kind: 'pet';
  /** Its id where it comes from; means nothing here. */
  id?: number;
}

export type CatalogueRecord = ListLine | PetLine;

export function isPet(record: CatalogueRecord): record is PetLine {
  return record.kind === 'pet';
}

/** A parsed line, or what is wrong with it. */
export type CatalogueLine = { record: CatalogueRecord } | { problem: string };

const NO_JSON =
  'must be a JSON object in UTF-8; it ends too early, or has an unexpected character or another encoding.';

/** Pets may refer to what is not a pet, by its id. */
function lineOf({ kind: ofLine, body }: Kind, kinds: readonly string[]): Type<CatalogueRecord> {
  class Line extends body {
    @OneOf(kinds, { description: 'What the line is.' })
    kind!: string;

    @Id({ description: 'Its id in the file.', optional: ofLine === 'pet' })
    id!: number;
  }
  return Line as Type<CatalogueRecord>;
}

@Injectable()
export class CatalogueFormat {
  /** Pets come last, because they refer to others. */
  readonly kinds: readonly Kind[];

  private readonly shapes: ReadonlyMap<unknown, Type<CatalogueRecord>>;

  constructor(
    @Inject(CATALOGUE_LISTS) readonly lists: readonly CatalogueList[],
    private readonly modules: ModuleRef,
  ) {
    this.kinds = [...lists, { kind: 'pet', plural: 'pets', body: PetFields }];
    const names = this.kinds.map(({ kind }) => kind);
    this.shapes = new Map(this.kinds.map((one) => [one.kind, lineOf(one, names)] as const));
  }

  /** Undefined for pets. */
  listOf(kind: string | undefined): CatalogueList | undefined {
    return this.lists.find((list) => list.kind === kind);
  }

  serviceOf({ service }: CatalogueList): ListService {
    return this.modules.get<ListService>(service, { strict: false });
  }

  /** A line of each kind. */
  examples(): string[] {
    return this.kinds.map(({ kind, body }) =>
      JSON.stringify({ kind, ...(kind === 'pet' ? {} : { id: 1 }), ...exampleOf(body) }),
    );
  }

  /** Parses a line as bodies of requests are parsed. A problem names each field and its valid values. */
  read(bytes: Buffer): CatalogueLine {
    try {
      const line = parseJson(bytes);
      if (typeof line !== 'object' || line === null || Array.isArray(line)) {
        throw new ValidationFailedError('must be a JSON object.');
      }
      const shape = this.shapes.get('kind' in line ? line.kind : undefined) ?? this.shapes.get('pet')!;
      return { record: { ...validated(shape, line) } };
    } catch (error) {
      if (error instanceof MalformedJsonError) {
        return { problem: NO_JSON };
      }
      if (error instanceof ApiError) {
        return { problem: error.message };
      }
      throw error;
    }
  }
}
