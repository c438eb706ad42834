import { AsyncResource } from 'node:async_hooks';

type AnyFunction = (...values: unknown[]) => unknown;

/**
 * Nest binds two functions for each interceptor of each request. Node 20 gives every bound function the property
 * `asyncResource`, which is now deprecated and takes most of the time: without it, an empty operation with one interceptor
 * answers twice as many requests. Node 22 does not add it; with this, Node 20 behaves the same.
 *
 * It replaces a function of Node for the whole process. Other callers get the same function without that property.
 */
export function bindWithoutDeprecatedProperty(): void {
  const nodesOwn = AsyncResource.bind as (...values: unknown[]) => AnyFunction;
  const example = nodesOwn.call(AsyncResource, () => undefined);
  if (!Object.hasOwn(example, 'asyncResource')) {
    return;
  }
  const bind = (work: AnyFunction, type?: string, thisArgument?: unknown): AnyFunction => {
    const resource = new AsyncResource(type || work.name || 'bound-anonymous-fn');
    const bound = function (this: unknown, ...values: unknown[]): unknown {
      return resource.runInAsyncScope(work, thisArgument === undefined ? this : thisArgument, ...values);
    };
    if (work.length > 0) {
      Object.defineProperty(bound, 'length', { value: work.length, configurable: true });
    }
    return bound;
  };
  AsyncResource.bind = bind as typeof AsyncResource.bind;
}
