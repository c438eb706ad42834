import { DECORATORS } from '@nestjs/swagger';
import type { AnyDefinedError, DefinedError } from '../errors/define-error';

/**
 * What decorators note about an operation while they guard it, so that the document describes what the code does. The
 * notes travel through the document as this extension of the operation; `completeDocument` turns them into responses,
 * header fields and parameters, and removes them.
 */
export const NOTES = 'x-operation-notes';

export interface ErrorNote {
  /** A code of the error catalogue. */
  code: string;
  /** The error's example for this operation; by default that of the catalogue. */
  example?: { message: string; headers: Readonly<Record<string, string>> };
}

export interface HeaderNote {
  /** Name of one of the document's shared header fields. */
  name: string;
  /** Its value for this operation, where `{path}` stands for the operation's path; by default the shared value. */
  example?: string;
  /** Its meaning for this operation; by default the shared description. */
  description?: string;
}

export interface ParameterNote {
  /** Name of one of the document's shared parameters. */
  name: string;
  /** Only for operations with these methods; by default for all. */
  onlyFor?: string[];
}

/** Examples of a body by name, in OpenAPI's format. */
export type Examples = Record<string, { summary: string; value: unknown }>;

export interface OperationNotes {
  errors: ErrorNote[];
  /** Codes that every other operation can return, but not this one. */
  never: string[];
  headers: (HeaderNote & { on: HeaderCondition })[];
  parameters: ParameterNote[];
  /** Examples of the request's body. */
  bodies: Examples;
}

type Annotated = TypedPropertyDescriptor<unknown> | PropertyDescriptor;

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

/** An error with these details, which may differ from those of the catalogue's example. */
export function errorWith<Details extends unknown[]>(
  error: DefinedError<Details>,
  ...details: Details
): ErrorNote {
  const { code, message, headers } = new error(...details);
  return { code, example: { message, headers } };
}

/** The operation can return these errors. */
export function documentErrors(...errors: AnyDefinedError[]): MethodDecorator {
  return (_target, _key, descriptor) => {
    notesOf(descriptor).errors.push(...errors.map(({ definition: { code } }) => ({ code })));
  };
}

/** The operation can return this error, with these details. The last note for a code applies. */
export function documentError<Details extends unknown[]>(
  error: DefinedError<Details>,
  ...details: Details
): MethodDecorator {
  return (_target, _key, descriptor) => {
    notesOf(descriptor).errors.push(errorWith(error, ...details));
  };
}

/** The operation never returns these errors, which every other operation can return. */
export function documentNever(...errors: AnyDefinedError[]): MethodDecorator {
  return (_target, _key, descriptor) => {
    notesOf(descriptor).never.push(...errors.map((error) => error.definition.code));
  };
}

/**
 * Which responses have a header field: successful ones, those stored for an Idempotency-Key (successes and most 4xx), or
 * those to every request that could be read. Some with 400, 408 and 431 could not.
 */
type HeaderCondition = 'success' | 'kept' | 'readable';

/** Responses of the operation have this shared header field. */
export function documentHeaders(on: HeaderCondition, ...headers: (HeaderNote | string)[]): MethodDecorator {
  return (_target, _key, descriptor) => {
    const notes = headers.map((header) => (typeof header === 'string' ? { name: header } : header));
    notesOf(descriptor).headers.push(...notes.map((note) => ({ ...note, on })));
  };
}

/** The operation supports this shared parameter. */
export function documentParameters(...parameters: ParameterNote[]): MethodDecorator {
  return (_target, _key, descriptor) => {
    notesOf(descriptor).parameters.push(...parameters);
  };
}

/** Examples of request bodies for this operation. */
export function documentBodies(examples: Examples): MethodDecorator {
  return (_target, _key, descriptor) => {
    Object.assign(notesOf(descriptor).bodies, examples);
  };
}
