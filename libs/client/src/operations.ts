// The shapes of calls, derived from the document's types.
import type { ParamsOption, RequestBodyOption } from 'openapi-fetch';
import type { components, paths } from './schema.ts';

/** The document's schemas by name: `Schemas['Pet']`. */
export type Schemas = components['schemas'];

export type Verb = 'get' | 'post' | 'put' | 'patch' | 'delete';

export type PathOf<Method extends Verb> = {
  [Path in keyof paths]: paths[Path] extends Record<Method, object> ? Path : never;
}[keyof paths];

export type OperationOf<Path extends keyof paths, Method extends Verb> =
  paths[Path] extends Record<Method, infer Operation> ? Operation : never;

interface Transport {
  /** More header fields. Those of the document are typed in `params.header`. */
  headers?: Record<string, string>;
  /** Ends the call, whatever it is waiting for; it then rejects with the signal's reason. */
  signal?: AbortSignal;
}

/** What a call sends: `params` (`path`, `query`, `header`) and `body`, as far as the operation takes them. */
export type Input<Operation> = ParamsOption<Operation> & RequestBodyOption<Operation> & Transport;

interface Unconditional {
  params?: { header?: { 'If-None-Match'?: undefined } };
}

interface Conditional {
  params: { header: { 'If-None-Match': string } };
}

type Arguments<Given> = Partial<Given> extends Given ? [input?: Given] : [input: Given];

type BodyOf<Answer> = Answer extends { content: { 'application/json': infer Body } } ? Body : undefined;

/** The body of a success; undefined for an operation that answers 204. */
export type DataOf<Operation> = Operation extends { responses: { 200: infer Answer } }
  ? BodyOf<Answer>
  : Operation extends { responses: { 201: infer Answer } }
    ? BodyOf<Answer>
    : undefined;

export interface Answer<Data> {
  data: Data;
  /** Status and header fields; the body has been read. */
  response: Response;
}

/** @throws PetStoreError for everything but a success */
export type Caller<Method extends Verb> = <Path extends PathOf<Method>>(
  path: Path,
  ...input: Arguments<Input<OperationOf<Path, Method>> & (Method extends 'get' ? Unconditional : unknown)>
) => Promise<Answer<DataOf<OperationOf<Path, Method>>>>;

/**
 * With `If-None-Match`, the data are undefined when the resource is still the same (304).
 * @throws PetStoreError for everything but a success or 304
 */
export type ConditionalReader = <Path extends PathOf<'get'>>(
  path: Path,
  input: Input<OperationOf<Path, 'get'>> & Conditional,
) => Promise<Answer<DataOf<OperationOf<Path, 'get'>> | undefined>>;

/** Paths of lists, which are read a page at a time. */
export type ListPath = {
  [Path in PathOf<'get'>]: OperationOf<Path, 'get'> extends { parameters: { query?: infer Query } }
    ? 'cursor' extends keyof Query
      ? [Query] extends [never]
        ? never
        : Path
      : never
    : never;
}[PathOf<'get'>];

export type EntryOf<Path extends ListPath> =
  DataOf<OperationOf<Path, 'get'>> extends (infer Entry)[] ? Entry : never;
