import type { HeaderObject, ParameterObject, SchemaObject } from '@nestjs/swagger';
import type { ErrorNote } from './operation-notes';

/** The parts that the operations of a document share, and those that depend on the method or status. */
export interface SharedParts {
  /** Header fields by name, for `components.headers`. */
  headers: Record<string, HeaderObject>;
  /** Parameters by name, for `components.parameters`. */
  parameters: Record<string, ParameterObject>;
  schemas: Record<string, SchemaObject>;
  /** Header fields of every response of every operation. */
  everyAnswer: string[];
  /** Values of header fields by status, where those of `headers` would be wrong. */
  headerExamples: Record<number, Record<string, string | number>>;
  /** Errors that every operation can return. */
  everyOperation: ErrorNote[];
  /** Further errors by HTTP method, such as those about a body. */
  byMethod: Record<string, ErrorNote[]>;
  /** Media types of bodies by HTTP method, in addition to JSON. */
  bodyTypes: Record<string, string[]>;
  /** Names in `components.responses` by status, for failures that most operations share. */
  responses: Record<number, string>;
  /** Statuses that are not stored for an Idempotency-Key. */
  notKept: (status: number) => boolean;
}
