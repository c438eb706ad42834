import type { OpenAPIObject } from '@nestjs/swagger';
import fc from 'fast-check';
import { resolve } from '../../../../support/document';

/** What the OpenAPI document's schemas use of JSON Schema. */
export interface Schema {
  $ref?: string;
  allOf?: Schema[];
  type?: string;
  format?: string;
  enum?: string[];
  not?: { enum: unknown[] };
  nullable?: boolean;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  items?: Schema;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
  properties?: Record<string, Schema>;
  required?: string[];
}

/** Ids up to here are mostly of something: what the fuzzer creates is numbered from 1. */
const COMMON_ID = 60;
const LONGEST_SHIP_DATE = { min: new Date('0001-01-01T00:00:00Z'), max: new Date('9999-12-31T23:59:59Z') };

/** The schema with what it refers to in place of the reference. */
export function plain(document: OpenAPIObject, schema: Schema): Schema {
  const { $ref, allOf = [], ...own } = schema;
  const others = [...($ref === undefined ? [] : [resolve(document, $ref) as Schema]), ...allOf];
  return others.reduce<Schema>((all, other) => ({ ...plain(document, other), ...all }), own);
}

/** Values that a schema of the OpenAPI document takes, those that occur in practice more often than others. */
export function valuesOf(document: OpenAPIObject, schema: Schema): fc.Arbitrary<unknown> {
  const own = plain(document, schema);
  const values = valuesOfType(document, own);
  const allowed = own.not ? values.filter((value) => !own.not!.enum.includes(value)) : values;
  return own.nullable ? fc.option(allowed) : allowed;
}

function valuesOfType(document: OpenAPIObject, schema: Schema): fc.Arbitrary<unknown> {
  switch (schema.enum ? 'enum' : schema.type) {
    case 'enum':
      return fc.constantFrom(...schema.enum!);
    case 'boolean':
      return fc.boolean();
    case 'integer':
      return integers(schema);
    case 'string':
      return schema.format === 'date-time' ? timestamps() : texts(schema);
    case 'array':
      return fc.array(valuesOf(document, schema.items!), { maxLength: Math.min(schema.maxItems ?? 5, 5) });
    case 'object':
      return objects(document, schema);
    default:
      throw new Error(`The fuzzer knows no values of ${JSON.stringify(schema)}`);
  }
}

function integers({ format, minimum: min = 0, maximum: max = Number.MAX_SAFE_INTEGER }: Schema) {
  const common = { min: Math.max(min, -3), max: Math.min(max, format === 'int64' ? COMMON_ID : 9) };
  return fc.oneof(
    { weight: 12, arbitrary: fc.integer(common) },
    { weight: 1, arbitrary: fc.bigInt({ min: BigInt(min), max: BigInt(max) }).map(Number) },
    { weight: 1, arbitrary: fc.constantFrom(min, max) },
  );
}

function timestamps(): fc.Arbitrary<string> {
  const offsets = fc.constantFrom('Z', '+00:00', 'z');
  return fc
    .tuple(fc.date({ ...LONGEST_SHIP_DATE, noInvalidDate: true }), offsets)
    .map(([date, offset]) => date.toISOString().replace('Z', offset));
}

/** NUL is what no text may have, although no schema can say so in a way that every tool understands. */
function texts({ minLength = 0, maxLength = 300, pattern = '' }: Schema): fc.Arbitrary<string> {
  const isAscii = pattern.includes('\\x7e');
  const unit = isAscii
    ? fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code))
    : 'binary';
  const longest = isAscii ? 'k'.repeat(maxLength) : '🐕'.repeat(maxLength);
  return fc
    .oneof(
      { weight: 20, arbitrary: fc.string({ unit, minLength, maxLength }) },
      { weight: 1, arbitrary: fc.constant(longest) },
    )
    .filter((text) => new RegExp(pattern, 'u').test(text) && !text.includes('\0'));
}

function objects(document: OpenAPIObject, { properties = {}, required = [] }: Schema) {
  const members = Object.entries(properties).map(
    ([name, schema]) => [name, valuesOf(document, schema)] as const,
  );
  return fc.record(Object.fromEntries(members), { requiredKeys: required, noNullPrototype: true });
}
