import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import { bindWithoutDeprecatedProperty } from '../../../src/runtime/lean-async-bind';

type Bind = (work: unknown, type?: string, thisArgument?: unknown) => (...values: unknown[]) => unknown;

const nodesOwn = AsyncResource.bind;
bindWithoutDeprecatedProperty();
const ours = AsyncResource.bind as unknown as Bind;

afterAll(() => Object.assign(AsyncResource, { bind: nodesOwn }));

/** As with Node's own function. */
describe('a bound function', () => {
  const bind: Bind = (...values) => ours.apply(AsyncResource, values);

  it('passes on arguments, results and errors', () => {
    expect(bind((...values: number[]) => values)(1, 2, 3)).toEqual([1, 2, 3]);
    const failure = new Error('no');
    const failing = bind(() => {
      throw failure;
    });
    expect(failing).toThrow(failure);
  });

  it('has the `this` it is called on, unless it was bound to another', () => {
    function self(this: unknown): unknown {
      return this;
    }
    const owner = {
      called: bind(self),
      bound: bind(self, 'name', 'text'),
      nothing: bind(self, undefined, null),
    };
    expect(owner.called()).toBe(owner);
    expect(owner.bound()).toBe('text');
    expect(owner.nothing()).toBeNull();
  });

  it('runs in the asynchronous context in which it was bound', async () => {
    const storage = new AsyncLocalStorage<string>();
    const read = storage.run('inner', () => bind(() => Promise.resolve().then(() => storage.getStore())));
    expect(await storage.run('outer', () => read())).toBe('inner');
    expect(storage.getStore()).toBeUndefined();
  });

  it('has as many parameters as the original', () => {
    const works = [
      () => 0,
      (a: unknown) => a,
      (a: unknown, b: unknown) => [a, b],
      (...all: unknown[]) => all,
    ];
    expect(works.map((work) => bind(work).length)).toEqual([0, 1, 2, 0]);
  });
});

test('a bound function has no deprecated property, and installing twice changes nothing', () => {
  const bound = ours.call(AsyncResource, () => 0);
  expect(Object.hasOwn(bound, 'asyncResource')).toBe(false);
  bindWithoutDeprecatedProperty();
  expect(AsyncResource.bind).toBe(ours);
});
