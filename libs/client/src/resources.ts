// The operations by resource: `store.pets.get(1)`. Their types are generated; this is what they all do.
import { ApiPromise, type ApiResponse, List, type PageQuery } from './calls.ts';
import type { CallInput, Operation } from './call.ts';
import { OPERATIONS, type Resources } from './generated/api.ts';

type Method = Operation & { takes?: 'body' | 'query'; isPaged: boolean };

export type Send = (operation: Operation, input: CallInput) => Promise<ApiResponse<unknown>>;

export function resourcesOver(send: Send): Resources {
  const entries = Object.entries(OPERATIONS).map(([name, methods]) => {
    const calls = Object.entries<Method>(methods).map(([verb, method]) => [verb, callsOf(method, send)]);
    return [name, Object.fromEntries(calls) as unknown] as const;
  });
  return Object.fromEntries(entries) as unknown as Resources;
}

/** Arguments: the values of the path, then the body or the query, then options. */
function callsOf(method: Method, send: Send) {
  const names = [...method.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  return (...given: unknown[]): ApiPromise<unknown> => {
    const path = Object.fromEntries(names.map((name) => [name, given.shift()]));
    const taken = method.takes && { [method.takes]: given.shift() };
    const input: CallInput = { ...(given[0] as object | undefined), path, ...taken };
    if (method.isPaged) {
      const readPage = (query: PageQuery) => send(method, { ...input, query });
      return new List(readPage as () => Promise<ApiResponse<unknown[]>>, input.query);
    }
    const promise = new ApiPromise(() => send(method, input));
    void promise.withResponse();
    return promise;
  };
}
