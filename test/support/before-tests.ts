/**
 * A value for all tests of the file, or of the `describe`, that calls this.
 * @param make makes the value before the tests
 * @param end runs after the tests
 * @returns a placeholder for the value. If one of its members is used before the tests begin, an error names that member.
 */
export function beforeTests<Value extends object>(
  make: () => Value | Promise<Value>,
  end?: (value: Value) => Promise<void>,
): Value {
  let made: Value | undefined;
  beforeAll(async () => void (made = await make()));
  afterAll(() => made && end?.(made));
  const memberOf = (name: string | symbol): Value => {
    if (made === undefined) throw new Error(`${String(name)} was used before the tests began`);
    return made;
  };
  return new Proxy({} as Value, {
    get: (_none, name) => Reflect.get(memberOf(name), name) as unknown,
    set: (_none, name, value) => Reflect.set(memberOf(name), name, value),
  });
}
