import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import { bindWithoutDeprecatedProperty } from '../../../src/runtime/lean-async-bind';

type Bind = (work: unknown, type?: string, thisArgument?: unknown) => (...values: unknown[]) => unknown;

const nodesOwn = AsyncResource.bind as unknown as Bind;
bindWithoutDeprecatedProperty();
const ours = AsyncResource.bind as unknown as Bind;

afterAll(() => Object.assign(AsyncResource, { bind: nodesOwn }));

/** Every guarantee is one of Node's own function first. */
describe.each([
  ["Node's own function", nodesOwn],
  ['ours', ours],
])('a bound function: %s', (_name, bindIt) => {
  const bind: Bind = (...values) => bindIt.apply(AsyncResource, values);

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

  it.each([
    [() => 0],
    [(a: unknown) => a],
    [(a: unknown, b: unknown) => [a, b]],
    [(...all: unknown[]) => all],
  ])('has the same number of parameters as %s', (work) => {
    expect(bind(work)).toHaveLength(work.length);
  });

  it.each([[1], ['text'], [{}], [{ name: 'run' }]])('rejects %p, which is not a function', (work) => {
    expect(() => bind(work)).toThrow(expect.objectContaining({ code: 'ERR_INVALID_ARG_TYPE' }) as Error);
  });

  it.each([[undefined], [null]])('rejects %p', (work) => {
    expect(() => bind(work)).toThrow(expect.objectContaining({ name: 'TypeError' }) as Error);
  });
});

test('a bound function has no deprecated property, and installing twice changes nothing', () => {
  expect(
    Object.hasOwn(
      ours.call(AsyncResource, () => 0),
      'asyncResource',
    ),
  ).toBe(false);
  bindWithoutDeprecatedProperty();
  expect(AsyncResource.bind).toBe(ours);
});
