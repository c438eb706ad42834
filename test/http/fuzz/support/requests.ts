import type { OpenAPIObject } from '@nestjs/swagger';
import fc from 'fast-check';
import { cursorAfter } from '#libs/http';
import { type Operation, type Parameter, operationsOf } from '../../../support/document';
import { type Schema, plain, valuesOf } from './schema-values';

/** Who sends a request; the keys are made when the service runs. */
export type Sender = 'owner' | 'reader' | 'spender' | 'nobody' | 'mistyped' | 'unknown' | 'two keys';

/** What the document and the rules say of a part: it is in order, it is to be refused (4xx), or that depends on more than itself. */
type Verdict = 'good' | 'bad' | 'either';

/** One request as it is sent, with what may come of it. Texts only, so that a failure prints what is needed to repeat it. */
export interface FuzzRequest {
  as: Sender;
  method: string;
  target: string;
  headers: Record<string, string>;
  body?: string;
  verdict: Verdict;
}

/** A part of a request as it is written, and what is to be thought of it. */
interface Part<Written> {
  written: Written;
  verdict: Verdict;
}
type Text = Part<string>;
type Body = Part<{ type?: string; text?: string }>;

/** What breaks careless services: texts that mean something to SQL, to a page, to a path or to JavaScript, and strange numbers. */
const HOSTILE = [
  `'; DROP TABLE pets; --`,
  `%' UNION SELECT digest FROM api_keys --`,
  '$1',
  '\\',
  '<script>alert(1)</script>',
  '{{7*7}}${7*7}',
  '../../etc/passwd',
  '__proto__',
  'constructor',
  'null',
  '0',
  '-1',
  '+1',
  '01',
  '1.5',
  '1e400',
  '0x1',
  '9007199254740993',
  '1,2',
  'a\0b',
  '1\r\nX-Injected: 1',
  '\ufeff🐕',
  '2026-02-30T00:00:00Z',
  'x'.repeat(3_000),
];
const JSON_TEXTS = [
  ...[
    'null',
    'true',
    '[]',
    '{}',
    '""',
    '" \\t"',
    '-0',
    '1e400',
    '1e-400',
    '2147483648',
    '18446744073709551617',
  ],
  ...['"\\ud800"', '"\\udc00\\ud800"', '{"__proto__":{"id":1}}', '{"toString":null,"valueOf":null}'],
  `${'['.repeat(5_000)}${']'.repeat(5_000)}`,
  ...HOSTILE.map((text) => JSON.stringify(text)),
];
const ENCODED = [...HOSTILE.map(encodeURIComponent), '%zz', '%', '%ED%A0%80'];
const FIELDS = ['', 'W/', '"a", W/"b", *', '\x80\xff', ...HOSTILE.filter((text) => /^[ -~]*$/.test(text))];

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND', 'QUERY'];
const BAD_QUERIES = ['colour=red', '__proto__=1', 'id[]=1', 'limit=1&limit=2', '%zz', '=1'];
const NO_OBJECTS = ['', ' ', '[]', 'null', '1', 'undefined', '{"a":1}{}', '\ufeff'];
const OTHER_TYPES = [undefined, 'text/plain', '/', 'application/json; charset=utf-16'];
const JSON_TYPE = 'application/json';
const MORE_THAN_64_KIB = 70_000;
/** So few that they come again, with the same request and with others; tags of all resources, and of none. */
const COMMON_FIELDS = ['one', 'two', '*', '"stale"'];

/** To wait takes as long as it says, and a cursor is refused where nothing has happened yet. */
const OF_THE_FEED = ['wait', 'cursor'];

const good = <Written>(written: Written): Part<Written> => ({ written, verdict: 'good' });
const bad = <Written>(written: Written): Part<Written> => ({ written, verdict: 'bad' });
const either = <Written>(written: Written): Part<Written> => ({ written, verdict: 'either' });
const oneOf = (...texts: string[]) => fc.constantFrom(...texts);
const mostly = <Value>(weight: number, usual: fc.Arbitrary<Value>, ...others: fc.Arbitrary<Value>[]) =>
  fc.oneof({ weight, arbitrary: usual }, ...others);

/** A request is as bad as its worst part. */
function worst(parts: Part<unknown>[]): Verdict {
  const verdicts = parts.map(({ verdict }) => verdict);
  return verdicts.includes('bad') ? 'bad' : verdicts.includes('either') ? 'either' : 'good';
}

/** Often enough that the key with a limit meets it in every run. */
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
  const parameters = operation.parameters.filter(
    (parameter) => path !== '/events' || !OF_THE_FEED.includes(parameter.name),
  );
  const parts = fc.tuple(
    mostly<Text>(40, fc.constant(good(method)), oneOf(...METHODS).map(either)),
    pathsOf(document, path, parameters),
    queriesOf(document, parameters),
    headersOf(parameters),
    bodiesOf(document, operation),
  );
  return fc.tuple(SENDERS, parts).map(([as, all]) => {
    const [sent, at, query, headers, body] = all;
    // Another method has parameters and a body of its own.
    const isOwn = sent.written === method;
    const { type, text } = isOwn ? body.written : {};
    return {
      as,
      method: sent.written,
      target: at.written + (query.written && `?${query.written}`),
      headers: { ...(type === undefined ? {} : { 'Content-Type': type }), ...headers.written },
      ...(text === undefined ? {} : { body: text }),
      verdict: isOwn ? worst(all) : 'either',
    };
  });
}

function pathsOf(document: OpenAPIObject, path: string, parameters: Parameter[]): fc.Arbitrary<Text> {
  const named = parameters.filter((candidate) => candidate.in === 'path');
  const segments = named.map(({ schema }) => {
    const ids = valuesOf(document, schema).map((id) => good(String(id)));
    return mostly<Text>(20, ids, oneOf(...ENCODED).map(bad));
  });
  return fc.tuple(...segments).map((chosen) => ({
    written: named.reduce((text, { name }, index) => {
      return text.replace(`{${name}}`, () => chosen[index]!.written);
    }, path),
    verdict: worst(chosen),
  }));
}

function queriesOf(document: OpenAPIObject, parameters: Parameter[]): fc.Arbitrary<Text> {
  const known = parameters.filter((parameter) => parameter.in === 'query');
  const broken = mostly<Text>(4, oneOf(...BAD_QUERIES).map(bad), oneOf('&&', '?', 'cursor').map(either));
  const chosen = fc.oneof(
    { weight: 1, arbitrary: broken },
    ...known.map((parameter) => ({ weight: 4, arbitrary: queryOf(document, parameter) })),
  );
  const nameOf = ({ written }: Text) => written.split('=', 1)[0]!;
  const several = fc.uniqueArray(chosen, { maxLength: 3, selector: nameOf }).map((all) => ({
    written: all.map(({ written }) => written).join('&'),
    verdict: worst(all),
  }));
  return mostly<Text>(known.length > 0 ? 1 : 12, fc.constant(good('')), several);
}

function queryOf(document: OpenAPIObject, { name, schema }: Parameter): fc.Arbitrary<Text> {
  const values =
    name === 'cursor'
      ? fc.integer({ min: 1, max: 90 }).map(cursorAfter)
      : valuesOf(document, schema as Schema);
  const valid = values.map((value) => {
    const written = [value].flat().map((single) => `${name}=${encodeURIComponent(String(single))}`);
    return good(written.join('&'));
  });
  return mostly<Text>(
    10,
    valid,
    oneOf(...ENCODED).map((text) => either(`${name}=${text}`)),
  );
}

function headersOf(parameters: Parameter[]): fc.Arbitrary<Part<Record<string, string>>> {
  const none = fc.constant(good<Record<string, string>>({}));
  const names = parameters.filter((parameter) => parameter.in === 'header').map(({ name }) => name);
  const set = fc
    .tuple(oneOf(...names, 'X-Request-Id', 'Origin'), mostly(3, oneOf(...COMMON_FIELDS), oneOf(...FIELDS)))
    .map(([name, value]) => either<Record<string, string>>({ [name]: value }));
  return fc.oneof(none, set);
}

/** Bodies of an operation, valid and with one thing wrong; nothing for one without. */
function bodiesOf(document: OpenAPIObject, operation: Operation): fc.Arbitrary<Body> {
  if (!operation.requestBody) {
    return fc.constant(good({}));
  }
  const { content } = operation.requestBody;
  const schema = plain(document, content[JSON_TYPE]!.schema as Schema);
  const values = valuesOf(document, schema) as fc.Arbitrary<Record<string, unknown>>;
  const texts = values.map((value) => JSON.stringify(value));
  const names = Object.keys(schema.properties ?? {});
  const without = (value: object, omitted: string) =>
    JSON.stringify(Object.fromEntries(Object.entries(value).filter(([name]) => name !== omitted)));
  const joined = (name: string, json: string, text: string) =>
    `{${[`${JSON.stringify(name)}:${json}`, text.slice(1, -1)].filter(Boolean).join(',')}}`;
  const of = (verdict: Verdict) => (text: string) => ({ written: { type: JSON_TYPE, text }, verdict });
  const valid = fc
    .tuple(oneOf(...Object.keys(content)), texts)
    .map(([type, text]): Body => good({ type, text }));
  return fc.oneof<{ weight: number; arbitrary: fc.Arbitrary<Body> }[]>(
    { weight: 60, arbitrary: valid },
    {
      weight: 6,
      arbitrary: fc
        .tuple(oneOf(...names), oneOf(...JSON_TEXTS), values)
        .map(([name, json, value]) => of('either')(joined(name, json, without(value, name)))),
    },
    {
      weight: 6,
      arbitrary: fc
        .oneof(
          fc
            .tuple(oneOf('id', 'colour', '__proto__', 'toString', ''), oneOf(...JSON_TEXTS), texts)
            .map((member) => joined(...member)),
          fc.tuple(texts, fc.nat()).map(([text, place]) => text.slice(0, place % text.length)),
          oneOf(...NO_OBJECTS),
          texts.map((text) => text + ' '.repeat(MORE_THAN_64_KIB)),
          ...(schema.required ?? []).map((name) => values.map((value) => without(value, name))),
        )
        .map(of('bad')),
    },
    {
      weight: 1,
      arbitrary: fc.tuple(fc.constantFrom(...OTHER_TYPES), texts).map(([type, text]) => bad({ type, text })),
    },
  );
}
