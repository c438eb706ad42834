// The shapes of calls, derived from the document's types.
import type { ParamsOption, RequestBodyOption } from 'openapi-fetch';
import type { components, paths } from './generated/schema.ts';

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
  /** Aborts the call at any stage; it then rejects with the signal's reason. */
  signal?: AbortSignal;
}

/** The input of a call: `params` (`path`, `query`, `header`) and `body`, as its operation defines them. */
export type Input<Operation> = ParamsOption<Operation> & RequestBodyOption<Operation> & Transport;

interface Unconditional {
  params?: { header?: { 'If-None-Match'?: undefined } };
}

interface Conditional {
  params: { header: { 'If-None-Match': string } };
}

type Arguments<Given> = Partial<Given> extends Given ? [input?: Given] : [input: Given];

type BodyOf<Answer> = Answer extends { content: { 'application/json': infer Body } } ? Body : undefined;

/** The body of a success; undefined for an operation that returns 204. */
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

/** @throws PetStoreError unless the request succeeds */
export type Caller<Method extends Verb> = <Path extends PathOf<Method>>(
  path: Path,
  ...input: Arguments<Input<OperationOf<Path, Method>> & (Method extends 'get' ? Unconditional : unknown)>
) => Promise<Answer<DataOf<OperationOf<Path, Method>>>>;

/**
 * With `If-None-Match`, the data are undefined if the resource has not changed (304).
 * @throws PetStoreError unless the response is a success or 304
 */
export type ConditionalReader = <Path extends PathOf<'get'>>(
  path: Path,
  input: Input<OperationOf<Path, 'get'>> & Conditional,
) => Promise<Answer<DataOf<OperationOf<Path, 'get'>> | undefined>>;

/** Paths of lists that have pages. */
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
