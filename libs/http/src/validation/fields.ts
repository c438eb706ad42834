// The fields of a class, as its decorators declare them. class-validator is used only to word the errors: most values are
// valid, and a direct check is faster.

interface DeclaredField {
  name: string;
  /** True for a valid value. */
  passes: (value: unknown) => boolean;
  /** Reads the value from a query, where everything is text. */
  read: (value: unknown) => unknown;
}

const optionalBodies = new WeakSet<object>();
const declared = new Map<object, DeclaredField[]>();
const all = new Map<object, ReadonlyMap<string, DeclaredField>>();

export function registerField(shape: object, field: DeclaredField): void {
  declared.set(shape, [...(declared.get(shape) ?? []), field]);
}

/** For the class of a body: a request without one is as one with an empty object. */
export function OptionalBody(): ClassDecorator {
  return (shape) => void optionalBodies.add(shape);
}

export function isOptionalBody(shape: object): boolean {
  return optionalBodies.has(shape);
}

/** The fields of a class and of those that it extends, by name. */
export function fieldsOf(shape: object): ReadonlyMap<string, DeclaredField> {
  let fields = all.get(shape);
  if (fields === undefined) {
    const parent = Object.getPrototypeOf(shape) as object | null;
    const inherited = parent === null || parent === Function.prototype ? [] : fieldsOf(parent).values();
    const own = declared.get(shape) ?? [];
    fields = new Map([...own, ...inherited].map((field) => [field.name, field]));
    all.set(shape, fields);
  }
  return fields;
}
