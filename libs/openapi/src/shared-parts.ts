import type { HeaderObject, ParameterObject, SchemaObject } from '@nestjs/swagger';
import type { ErrorNote } from './operation-notes';

/** What the operations of a document share, and what follows from their method or status. */
export interface SharedParts {
  /** Header fields by name, for `components.headers`. */
  headers: Record<string, HeaderObject>;
  /** Parameters by name, for `components.parameters`. */
  parameters: Record<string, ParameterObject>;
  schemas: Record<string, SchemaObject>;
  /** Header fields that every answer of every operation carries. */
  everyAnswer: string[];
  /** Values of header fields, by status, where those of `headers` would not be true. */
  headerExamples: Record<number, Record<string, string | number>>;
  /** Errors that every operation can answer. */
  everyOperation: ErrorNote[];
  /** Further errors by HTTP method, such as those about a body. */
  byMethod: Record<string, ErrorNote[]>;
  /** Media types by HTTP method that a body may have beside JSON. */
  bodyTypes: Record<string, string[]>;
  /** Names in `components.responses`, by status, for failures that read alike on most operations. */
  responses: Record<number, string>;
  /** Statuses that an Idempotency-Key does not keep. */
  notKept: (status: number) => boolean;
}
