import type { OpenAPIObject } from '@nestjs/swagger';
import fc from 'fast-check';
import { cursorAfter } from '#libs/http';
import { type Operation, type Parameter, operationsOf } from '../../../../support/document';
import { type Schema, plain, valuesOf } from './schema-values';

/** One request as it is sent. Texts only, so that a failure prints what is needed to repeat it. */
export interface FuzzRequest {
  method: string;
  target: string;
  headers: Record<string, string>;
  body?: string;
}

/** What breaks careless services: texts that mean something to SQL, to a page, to a path or to JavaScript, and strange numbers. */
const HOSTILE = [
  `'; DROP TABLE pets; --`,
  `%' UNION SELECT digest FROM api_keys --`,
  '$1',
  '\\',
  '<script>alert(1)</script>',
  '../../etc/passwd',
  '__proto__',
  'constructor',
  'null',
  '0',
  '-1',
  '01',
  '1.5',
  '1e400',
  '9007199254740993',
  '1,2',
  'a\0b',
  '1\r\nX-Injected: 1',
  '\ufeff🐕',
  '2026-02-30T00:00:00Z',
  'x'.repeat(3_000),
];
const JSON_TEXTS = [
  ...['null', 'true', '[]', '{}', '""', '-0', '1e400', '2147483648', '18446744073709551617', '"\\ud800"'],
  ...['{"__proto__":{"id":1}}', '{"toString":null}', `${'['.repeat(5_000)}${']'.repeat(5_000)}`],
  ...HOSTILE.map((text) => JSON.stringify(text)),
];
const ENCODED = [...HOSTILE.map(encodeURIComponent), '%zz', '%', '%ED%A0%80'];
/** So few that they come again, with the same request and with others; tags of all resources, and of none. */
const FIELDS = ['one', 'two', '*', '"stale"', '', 'W/', '"a", W/"b", *', '\x80\xff'];

const oneOf = (...texts: string[]) => fc.constantFrom(...texts);
/** The usual value, so many times as often as one of the others. */
const mostly = <Value>(weight: number, usual: fc.Arbitrary<Value>, ...others: fc.Arbitrary<Value>[]) =>
  fc.oneof({ weight, arbitrary: usual }, ...others);

/**
 * Requests to every operation of the document with values of any kind, mostly valid ones. Broken requests, methods and bodies have
 * tests of their own, and so has who may send what.
 */
export function requestsOf(document: OpenAPIObject): fc.Arbitrary<FuzzRequest> {
  // A webhook that is registered here would be called, wherever the fuzzer has it lead.
  const known = [...operationsOf(document)].filter(([name]) => !name.includes(' /webhooks'));
  return fc.oneof(...known.map(([name, operation]) => requestsTo(document, name, operation)));
}

function requestsTo(document: OpenAPIObject, name: string, operation: Operation): fc.Arbitrary<FuzzRequest> {
  const [method = '', path = ''] = name.split(' ');
  // To wait takes as long as it says.
  const parameters = operation.parameters.filter((parameter) => parameter.name !== 'wait');
  return fc
    .record({
      path: pathsOf(document, path, parameters),
      query: queriesOf(document, parameters),
      headers: headersOf(parameters),
      body: bodiesOf(document, operation),
    })
    .map(({ path: at, query, headers, body }) => ({
      method,
      target: at + (query && `?${query}`),
      headers,
      body,
    }));
}

function pathsOf(document: OpenAPIObject, path: string, parameters: Parameter[]): fc.Arbitrary<string> {
  const named = parameters.filter((candidate) => candidate.in === 'path');
  const segments = named.map(({ schema }) =>
    mostly(20, valuesOf(document, schema).map(String), oneOf(...ENCODED)),
  );
  return fc
    .tuple(...segments)
    .map((chosen) =>
      named.reduce((text, { name }, index) => text.replace(`{${name}}`, () => chosen[index]!), path),
    );
}

function queriesOf(document: OpenAPIObject, parameters: Parameter[]): fc.Arbitrary<string> {
  const known = parameters.filter((parameter) => parameter.in === 'query');
  if (known.length === 0) return fc.constant('');
  const chosen = fc.oneof(...known.map((parameter) => queryOf(document, parameter)));
  return fc
    .uniqueArray(chosen, { maxLength: 3, selector: (text) => text.split('=', 1)[0] })
    .map((texts) => texts.join('&'));
}

function queryOf(document: OpenAPIObject, { name, schema }: Parameter): fc.Arbitrary<string> {
  const values =
    name === 'cursor' ? fc.nat(90).map((id) => cursorAfter(id + 1)) : valuesOf(document, schema as Schema);
  const valid = values.map((value) =>
    [value]
      .flat()
      .map((single) => `${name}=${encodeURIComponent(String(single))}`)
      .join('&'),
  );
  return mostly(
    10,
    valid,
    oneOf(...ENCODED).map((text) => `${name}=${text}`),
  );
}

function headersOf(parameters: Parameter[]): fc.Arbitrary<Record<string, string>> {
  const names = parameters.filter((parameter) => parameter.in === 'header').map(({ name }) => name);
  return fc.dictionary(oneOf(...names, 'X-Request-Id', 'Origin'), oneOf(...FIELDS), { maxKeys: 1 });
}

/** Bodies of an operation, valid and with one member of any kind; nothing for one without. */
function bodiesOf(document: OpenAPIObject, { requestBody }: Operation): fc.Arbitrary<string | undefined> {
  if (!requestBody) {
    return fc.constant(undefined);
  }
  const schema = plain(document, requestBody.content['application/json']!.schema as Schema);
  const texts = valuesOf(document, schema).map((value) => JSON.stringify(value));
  const names = [...Object.keys(schema.properties ?? {}), 'id', 'colour', '__proto__', 'toString', ''];
  const withMember = fc
    .tuple(oneOf(...names), oneOf(...JSON_TEXTS), texts)
    .map(([name, json, text]) => `{${[text.slice(1, -1), `"${name}":${json}`].filter(Boolean).join(',')}}`);
  return mostly<string>(10, texts, withMember);
}
