import type { OpenAPIObject } from '@nestjs/swagger';
import fc from 'fast-check';
import type { Operation } from '../../../support/document';
import type { Part } from './fuzz-request';
import { HOSTILE_JSON } from './hostile-values';
import { type Schema, plain, valuesOf } from './schema-values';

interface SentBody {
  type?: string;
  text?: string;
}

const JSON_TYPE = 'application/json';
const OTHER_TYPES = [undefined, 'text/plain', 'application/xml', '/', 'application/json; charset=utf-16'];
const NO_OBJECTS = ['', ' ', '[]', '[{}]', 'null', '1', '"{}"', 'undefined', '{"a":1}{}', '\ufeff'];
const MORE_THAN_64_KIB = 70_000;

/** Bodies of an operation, valid and broken; nothing for one without. */
export function bodiesOf(document: OpenAPIObject, operation: Operation): fc.Arbitrary<Part<SentBody>> {
  if (!operation.requestBody) {
    return fc.constant({ written: {}, verdict: 'good' });
  }
  const { content } = operation.requestBody;
  const schema = plain(document, content[JSON_TYPE]!.schema as Schema);
  const values = valuesOf(document, schema) as fc.Arbitrary<Record<string, unknown>>;
  const good = fc
    .tuple(fc.constantFrom(...Object.keys(content)), values)
    .map(([type, value]) => part('good', JSON.stringify(value), type));
  const [first, ...others] = brokenBodies(schema, values);
  return fc.oneof({ weight: 60, arbitrary: good }, { weight: 4, arbitrary: first! }, ...others);
}

function part(verdict: Part<SentBody>['verdict'], text: string, type: string | undefined = JSON_TYPE) {
  return { written: type === undefined ? { text } : { type, text }, verdict };
}

/** What can be wrong with a body, one thing at a time. */
function brokenBodies(
  schema: Schema,
  values: fc.Arbitrary<Record<string, unknown>>,
): fc.Arbitrary<Part<SentBody>>[] {
  const names = Object.keys(schema.properties ?? {});
  const texts = values.map((value) => JSON.stringify(value));
  const hostile = fc.constantFrom(...HOSTILE_JSON);
  const inside = (text: string) => text.slice(1, -1);
  const joined = (...members: string[]) => `{${members.filter(Boolean).join(',')}}`;
  const broken: fc.Arbitrary<Part<SentBody>>[] = [
    fc.tuple(fc.constantFrom(...names), hostile, values).map(([name, json, { ...value }]) => {
      delete value[name];
      return part('either', joined(`${JSON.stringify(name)}:${json}`, inside(JSON.stringify(value))));
    }),
    // The last of two members with one name counts, which may be the good one.
    fc
      .tuple(texts, fc.constantFrom(...names), hostile)
      .map(([text, name, json]) => part('either', joined(`${JSON.stringify(name)}:${json}`, inside(text)))),
    fc
      .tuple(texts, fc.constantFrom('id', 'colour', '__proto__', 'constructor', 'toString', ''), hostile)
      .map(([text, name, json]) => part('bad', joined(inside(text), `${JSON.stringify(name)}:${json}`))),
    fc.tuple(texts, fc.nat()).map(([text, place]) => part('bad', text.slice(0, place % text.length))),
    fc.constantFrom(...NO_OBJECTS).map((text) => part('bad', text)),
    fc.string({ unit: 'binary', maxLength: 60 }).map((text) => part('either', text)),
    texts.map((text) => part('bad', text + ' '.repeat(MORE_THAN_64_KIB))),
    fc
      .tuple(texts, fc.constantFrom(...OTHER_TYPES))
      .map(([text, type]) => ({ written: { type, text }, verdict: 'bad' as const })),
  ];
  const required = schema.required ?? [];
  if (required.length > 0) {
    broken.push(
      fc.tuple(values, fc.constantFrom(...required)).map(([{ ...value }, name]) => {
        delete value[name];
        return part('bad', JSON.stringify(value));
      }),
    );
  }
  return broken;
}
