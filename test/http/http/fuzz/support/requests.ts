import type { OpenAPIObject } from '@nestjs/swagger';
import fc from 'fast-check';
import { cursorAfter } from '#libs/http';
import { type Operation, type Parameter, operationsOf } from '../../../../support/document';
import { type Schema, plain, valuesOf } from './schema-values';

/** Who sends a request; the keys are made when the service runs. */
export type Sender = 'owner' | 'reader' | 'spender' | 'nobody' | 'mistyped' | 'unknown' | 'two keys';

/** One request as it is sent. Texts only, so that a failure prints what is needed to repeat it. */
export interface FuzzRequest {
  as: Sender;
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
const BAD_QUERIES = ['colour=red', '__proto__=1', 'id[]=1', 'limit=1&limit=2', '%zz', '=1', '&&', '?'];
/** So few that they come again, with the same request and with others; tags of all resources, and of none. */
const FIELDS = ['one', 'two', '*', '"stale"', '', 'W/', '"a", W/"b", *', '\x80\xff'];
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND', 'QUERY'];
const OTHER_TYPES = ['text/plain', '/', 'application/json; charset=utf-16'];
const MORE_THAN_64_KIB = 70_000;

const oneOf = (...texts: string[]) => fc.constantFrom(...texts);
/** The usual value, so many times as often as one of the others. */
const mostly = <Value>(weight: number, usual: fc.Arbitrary<Value>, ...others: fc.Arbitrary<Value>[]) =>
  fc.oneof({ weight, arbitrary: usual }, ...others);

const SENDERS = mostly<Sender>(
  8,
  fc.constant('owner'),
  fc.constantFrom('reader', 'spender', 'nobody', 'mistyped', 'unknown', 'two keys'),
);

/** Requests to every operation of the document: mostly valid, or broken in one way or another. */
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
      as: SENDERS,
      method: mostly(40, fc.constant(method), oneOf(...METHODS)),
      path: pathsOf(document, path, parameters),
      query: queriesOf(document, parameters),
      headers: headersOf(parameters),
      type: mostly(
        20,
        oneOf(...Object.keys(operation.requestBody?.content ?? { '': 0 })),
        oneOf(...OTHER_TYPES),
      ),
      body: bodiesOf(document, operation),
    })
    .map(({ path: at, query, type, headers, body, ...request }) => ({
      ...request,
      target: at + (query && `?${query}`),
      // Another method has a body of its own.
      ...(body === undefined || request.method !== method
        ? { headers }
        : { headers: { 'Content-Type': type, ...headers }, body }),
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
  const chosen = mostly(1, oneOf(...BAD_QUERIES), ...known.map((parameter) => queryOf(document, parameter)));
  const several = fc
    .uniqueArray(chosen, { maxLength: 3, selector: (text) => text.split('=', 1)[0] })
    .map((texts) => texts.join('&'));
  return mostly(known.length > 0 ? 1 : 12, fc.constant(''), several);
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

/** Bodies of an operation, valid and with one thing wrong; nothing for one without. */
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
  const cutOff = fc.tuple(texts, fc.nat()).map(([text, place]) => text.slice(0, place % text.length));
  const tooLong = texts.map((text) => text + ' '.repeat(MORE_THAN_64_KIB));
  return mostly<string>(40, texts, withMember, withMember, withMember, cutOff, tooLong, oneOf(...JSON_TEXTS));
}
