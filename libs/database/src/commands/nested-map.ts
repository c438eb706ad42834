/** A two-level map, by owner (such as an entity) and id. */
export class NestedMap<Of, Value> {
  private readonly values = new Map<Of, Map<number, Value>>();

  get(of: Of, id: number): Value | undefined {
    return this.values.get(of)?.get(id);
  }

  set(of: Of, id: number, value: Value): void {
    let values = this.values.get(of);
    if (values === undefined) {
      values = new Map();
      this.values.set(of, values);
    }
    values.set(id, value);
  }

  of(of: Of): ReadonlyMap<number, Value> | undefined {
    return this.values.get(of);
  }

  addAll(other: NestedMap<Of, Value>): void {
    for (const [of, values] of other.values) {
      values.forEach((value, id) => this.set(of, id, value));
    }
  }
}
