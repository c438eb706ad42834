import { DECORATORS } from '@nestjs/swagger';
import type { AnyDefinedError, DefinedError } from '#libs/errors';

/**
 * What decorators note about an operation while they guard it, so that the document says what the code does. The
 * notes travel through the document as this extension of the operation; `completeDocument` turns them into responses,
 * header fields and parameters, and removes them.
 */
export const NOTES = 'x-operation-notes';

export interface ErrorNote {
  /** Code of the error catalogue. */
  code: string;
  /** How the error reads here; as in the catalogue when absent. */
  example?: { message: string; headers: Readonly<Record<string, string>> };
}

export interface HeaderNote {
  /** Name of one of the document's shared header fields. */
  name: string;
  /** Its value on this operation, in which `{path}` stands for the operation's path; the shared one when absent. */
  example?: string;
  /** What it means on this operation; the shared description when absent. */
  description?: string;
}

export interface ParameterNote {
  /** Name of one of the document's shared parameters. */
  name: string;
  /** Only for operations with these methods; all when absent. */
  onlyFor?: string[];
}

/** Examples of a body by name, as OpenAPI has them. */
export type Examples = Record<string, { summary: string; value: unknown }>;

export interface OperationNotes {
  errors: ErrorNote[];
  /** Codes that every other operation can answer, but not this one. */
  never: string[];
  headers: (HeaderNote & { on: 'success' | 'kept' | 'every' })[];
  parameters: ParameterNote[];
  /** Examples of the request's body. */
  bodies: Examples;
}

type Annotated = TypedPropertyDescriptor<unknown> | PropertyDescriptor;

/** Notes of an operation of which nothing is noted. */
export function noNotes(): OperationNotes {
  return { errors: [], never: [], headers: [], parameters: [], bodies: {} };
}

function notesOf(descriptor: Annotated): OperationNotes {
  const handler = descriptor.value as object;
  const extensions = (Reflect.getMetadata(DECORATORS.API_EXTENSION, handler) ?? {}) as Record<
    string,
    unknown
  >;
  const notes = (extensions[NOTES] ?? noNotes()) as OperationNotes;
  Reflect.defineMetadata(DECORATORS.API_EXTENSION, { ...extensions, [NOTES]: notes }, handler);
  return notes;
}

/** An error as it reads with these details, which need not be those of the catalogue's example. */
export function errorWith<Details extends unknown[]>(
  error: DefinedError<Details>,
  ...details: Details
): ErrorNote {
  const { code, message, headers } = new error(...details);
  return { code, example: { message, headers } };
}

/** The operation can answer with these errors. */
export function documentErrors(...errors: AnyDefinedError[]): MethodDecorator {
  return (_target, _key, descriptor) => {
    notesOf(descriptor).errors.push(...errors.map(({ definition: { code } }) => ({ code })));
  };
}

/** The operation can answer with this error, which reads here as it does with these details. The last one noted counts. */
export function documentError<Details extends unknown[]>(
  error: DefinedError<Details>,
  ...details: Details
): MethodDecorator {
  return (_target, _key, descriptor) => {
    notesOf(descriptor).errors.push(errorWith(error, ...details));
  };
}

/** The operation is exempt from these errors, which every other one can answer. */
export function documentNever(...errors: AnyDefinedError[]): MethodDecorator {
  return (_target, _key, descriptor) => {
    notesOf(descriptor).never.push(...errors.map((error) => error.definition.code));
  };
}

/**
 * Answers of the operation carry this shared header field: successful ones, those which an Idempotency-Key keeps
 * (successes and most 4xx), or every one.
 */
export function documentHeaders(
  on: 'success' | 'kept' | 'every',
  ...headers: (HeaderNote | string)[]
): MethodDecorator {
  return (_target, _key, descriptor) => {
    const notes = headers.map((header) => (typeof header === 'string' ? { name: header } : header));
    notesOf(descriptor).headers.push(...notes.map((note) => ({ ...note, on })));
  };
}

/** The operation honours this shared parameter. */
export function documentParameters(...parameters: ParameterNote[]): MethodDecorator {
  return (_target, _key, descriptor) => {
    notesOf(descriptor).parameters.push(...parameters);
  };
}

/** Bodies that the operation takes, for callers to start from. */
export function documentBodies(examples: Examples): MethodDecorator {
  return (_target, _key, descriptor) => {
    Object.assign(notesOf(descriptor).bodies, examples);
  };
}
