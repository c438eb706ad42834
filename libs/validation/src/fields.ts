// What the decorators declared about the fields of a class. class-validator knows it too, and words the refusals; most
// values are right, and to find that out does not need its machinery.

interface DeclaredField {
  name: string;
  /** True when a value needs no refusal. */
  passes: (value: unknown) => boolean;
  /** Reads the value from a query, where everything is text. */
  read: (value: unknown) => unknown;
}

const declared = new Map<object, DeclaredField[]>();
const all = new Map<object, ReadonlyMap<string, DeclaredField>>();

export function registerField(shape: object, field: DeclaredField): void {
  declared.set(shape, [...(declared.get(shape) ?? []), field]);
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
