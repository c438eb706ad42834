import { DECORATORS } from '@nestjs/swagger';
import type { AnyDefinedError } from '#libs/errors';

/**
 * What decorators note about an operation while they guard it, so that the document says what the code does. The
 * notes travel through the document as this extension of the operation; `completeDocument` turns them into responses,
 * header fields and parameters, and removes them.
 */
export const NOTES = 'x-operation-notes';

export interface ParameterNote {
  /** Name of one of the document's shared parameters. */
  name: string;
  /** Only for operations with these methods; all when absent. */
  onlyFor?: string[];
}

export interface OperationNotes {
  /** Codes of the error catalogue. */
  errors: string[];
  /** Codes that every other operation can answer, but not this one. */
  never: string[];
  /** Names of shared header fields, on successful answers or on every answer. */
  headers: { on: 'success' | 'kept' | 'every'; name: string }[];
  parameters: ParameterNote[];
}

type Annotated = TypedPropertyDescriptor<unknown> | PropertyDescriptor;

function notesOf(descriptor: Annotated): OperationNotes {
  const handler = descriptor.value as object;
  const extensions = (Reflect.getMetadata(DECORATORS.API_EXTENSION, handler) ?? {}) as Record<
    string,
    unknown
  >;
  const notes = (extensions[NOTES] ?? {
    errors: [],
    never: [],
    headers: [],
    parameters: [],
  }) as OperationNotes;
  Reflect.defineMetadata(DECORATORS.API_EXTENSION, { ...extensions, [NOTES]: notes }, handler);
  return notes;
}

/** The operation can answer with these errors. */
export function documentErrors(...errors: AnyDefinedError[]): MethodDecorator {
  return (_target, _key, descriptor) => {
    notesOf(descriptor).errors.push(...errors.map((error) => error.definition.code));
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
export function documentHeaders(on: 'success' | 'kept' | 'every', ...names: string[]): MethodDecorator {
  return (_target, _key, descriptor) => {
    notesOf(descriptor).headers.push(...names.map((name) => ({ on, name })));
  };
}

/** The operation honours this shared parameter. */
export function documentParameters(...parameters: ParameterNote[]): MethodDecorator {
  return (_target, _key, descriptor) => {
    notesOf(descriptor).parameters.push(...parameters);
  };
}
