import type { OpenAPIObject } from '@nestjs/swagger';
import fc from 'fast-check';
import { cursorAfter } from '#libs/http';
import { type Operation, type Parameter, operationsOf } from '../../../support/document';
import { bodiesOf } from './body-values';
import { type FuzzRequest, type Part, type Sender, type Verdict, worst } from './fuzz-request';
import { HOSTILE_FIELDS, HOSTILE_QUERIES, HOSTILE_SEGMENTS } from './hostile-values';
import { type Schema, valuesOf } from './schema-values';

const SENDERS = fc.oneof(
  { weight: 80, arbitrary: fc.constant<Sender>('owner') },
  { weight: 10, arbitrary: fc.constant<Sender>('owner as bearer') },
  ...(['reader', 'spender', 'nobody', 'mistyped', 'unknown', 'two keys'] as const).map((sender) => ({
    weight: 2,
    arbitrary: fc.constant<Sender>(sender),
  })),
);
const STRANGE_METHODS = [
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'TRACE',
  'PROPFIND',
  'QUERY',
];
const NEITHER_PATHS = [
  '//',
  '/pets/',
  '//pets',
  '/pets/1/2',
  '/PETS',
  '/%zz',
  '/pets/..',
  '/pets;x=1',
  '/%2e',
];
/** Nothing that any operation takes. */
const BAD_QUERIES = ['colour=red', '__proto__=1', 'toString=1', 'id[]=1', 'limit=1&limit=2', '%zz', '=1'];
const STRANGE_QUERIES = ['&&', '?', 'cursor', 'status=&status='];
/** So few that they come again, with the same request and with others. */
const IDEMPOTENCY_KEYS = ['one', 'two', 'three'];
/** Of all resources, and of none. */
const ENTITY_TAGS = ['*', '"stale"'];
const OTHER_FIELDS = ['X-Request-Id', 'Accept', 'X-HTTP-Method-Override', 'X-Forwarded-For', 'Origin'];

/** To wait takes as long as it says, and a cursor is refused where nothing has happened yet. */
const OF_THE_FEED = ['wait', 'cursor'];

type Text = Part<string>;

/** Requests to every operation of the document: mostly valid, broken in one way or another, and some to nothing at all. */
export function requestsOf(document: OpenAPIObject): fc.Arbitrary<FuzzRequest> {
  // A webhook that is registered here would be called, wherever the fuzzer has it lead.
  const known = [...operationsOf(document)].filter(([name]) => !name.includes(' /webhooks'));
  const operations = known.map(([name, operation]) => requestsTo(document, name, operation));
  const strays = fc.record({
    as: SENDERS,
    method: fc.constantFrom(...STRANGE_METHODS.filter((method) => method !== 'OPTIONS')),
    target: fc.constantFrom(...NEITHER_PATHS),
    headers: fc.constant({}),
    verdict: fc.constant<Verdict>('bad'),
  });
  return fc.oneof(
    { weight: 1, arbitrary: strays },
    ...operations.map((arbitrary) => ({ weight: 3, arbitrary })),
  );
}

function requestsTo(document: OpenAPIObject, name: string, operation: Operation): fc.Arbitrary<FuzzRequest> {
  const [method = '', path = ''] = name.split(' ');
  const parameters = operation.parameters.filter(
    (parameter) => path !== '/events' || !OF_THE_FEED.includes(parameter.name),
  );
  const parts = fc.record({
    as: SENDERS,
    method: methodsFor(method),
    path: pathsOf(document, path, parameters),
    query: queriesOf(document, parameters),
    headers: headersOf(parameters),
    body: bodiesOf(document, operation),
  });
  const documented = new Set(Object.keys(document.paths[path]!).map((known) => known.toUpperCase()));
  return parts.map(({ as, method: sent, path: at, query, headers, body: { written, verdict } }) => {
    const takesBody = sent.written === method;
    const known = documented.has(sent.written === 'HEAD' ? 'GET' : sent.written);
    const type: Record<string, string> =
      takesBody && written.type !== undefined ? { 'Content-Type': written.type } : {};
    const verdicts = [at.verdict, query.verdict, headers.verdict, takesBody ? verdict : 'either'];
    return {
      as,
      method: sent.written,
      target: at.written + (query.written && `?${query.written}`),
      headers: { ...type, ...headers.written },
      ...(takesBody && written.text !== undefined ? { body: written.text } : {}),
      // Another method of the path has parameters of its own, so that only a method which it does not have is surely wrong.
      verdict:
        sent.written === method || sent.verdict === 'good' ? worst(verdicts) : known ? 'either' : 'bad',
    };
  });
}

/** The operation's own method; HEAD for GET; now and then any other. */
function methodsFor(method: string): fc.Arbitrary<Text> {
  const own = { written: method, verdict: 'good' as const };
  const same = method === 'GET' ? [own, own, own, { written: 'HEAD', verdict: 'good' as const }] : [own];
  const strange = fc
    .constantFrom(...STRANGE_METHODS)
    .map((written) => ({ written, verdict: 'either' as const }));
  return fc.oneof(
    { weight: 40, arbitrary: fc.constantFrom<Text>(...same) },
    { weight: 1, arbitrary: strange },
  );
}

function pathsOf(document: OpenAPIObject, path: string, parameters: Parameter[]): fc.Arbitrary<Text> {
  const named = parameters.filter((candidate) => candidate.in === 'path');
  const hostile = fc.constantFrom(...HOSTILE_SEGMENTS);
  const segments = named.map(({ schema }) =>
    fc.oneof(
      {
        weight: 20,
        arbitrary: valuesOf(document, schema).map((id): Text => ({ written: String(id), verdict: 'good' })),
      },
      { weight: 1, arbitrary: hostile.map((segment): Text => ({ written: segment, verdict: 'bad' })) },
    ),
  );
  return fc.tuple(...segments).map((chosen) => ({
    written: named.reduce((text, { name }, index) => {
      return text.replace(`{${name}}`, () => chosen[index]!.written);
    }, path),
    verdict: worst(chosen.map(({ verdict }) => verdict)),
  }));
}

function queriesOf(document: OpenAPIObject, parameters: Parameter[]): fc.Arbitrary<Text> {
  const known = parameters.filter((parameter) => parameter.in === 'query');
  const bad = BAD_QUERIES.map((written): Text => ({ written, verdict: 'bad' }));
  const strange = STRANGE_QUERIES.map((written): Text => ({ written, verdict: 'either' }));
  const parts = known.map((parameter) => ({
    weight: 4,
    arbitrary: queryOf(document, parameter),
  }));
  const chosen = fc.oneof({ weight: 1, arbitrary: fc.constantFrom(...bad, ...strange) }, ...parts);
  return fc.oneof(
    { weight: known.length === 0 ? 30 : 1, arbitrary: fc.constant<Text>({ written: '', verdict: 'good' }) },
    { weight: 1, arbitrary: fc.uniqueArray(chosen, { maxLength: 3, selector: nameOf }).map(joinedQuery) },
  );
}

function nameOf({ written }: Text): string {
  return written.split('=', 1)[0]!;
}

function joinedQuery(parts: Text[]): Text {
  return {
    written: parts.map(({ written }) => written).join('&'),
    verdict: worst(parts.map(({ verdict }) => verdict)),
  };
}

function queryOf(document: OpenAPIObject, { name, schema }: Parameter): fc.Arbitrary<Text> {
  const isCursor = name === 'cursor';
  const values = isCursor
    ? fc.integer({ min: 1, max: 90 }).map(cursorAfter)
    : valuesOf(document, schema as Schema);
  const good = values.map((value): Text => {
    const written = [value].flat().map((single) => `${name}=${encodeURIComponent(String(single))}`);
    return { written: written.join('&'), verdict: 'good' };
  });
  const hostile = fc.constantFrom(...HOSTILE_QUERIES).map((value): Text => {
    return { written: `${name}=${value}`, verdict: 'either' };
  });
  return fc.oneof({ weight: 10, arbitrary: good }, { weight: 1, arbitrary: hostile });
}

function headersOf(parameters: Parameter[]): fc.Arbitrary<Part<Record<string, string>>> {
  const names = parameters.filter((parameter) => parameter.in === 'header').map(({ name }) => name);
  const none = fc.constant<Part<Record<string, string>>>({ written: {}, verdict: 'good' });
  if (names.length === 0) {
    return none;
  }
  const common = fc
    .constantFrom(...names)
    .chain((name) =>
      fc.tuple(
        fc.constant(name),
        fc.constantFrom(...(name === 'Idempotency-Key' ? IDEMPOTENCY_KEYS : ENTITY_TAGS)),
      ),
    );
  const hostile = fc.tuple(fc.constantFrom(...names, ...OTHER_FIELDS), fc.constantFrom(...HOSTILE_FIELDS));
  const set = fc
    .oneof({ weight: 3, arbitrary: common }, { weight: 1, arbitrary: hostile })
    .map(([name, value]): Part<Record<string, string>> => {
      return { written: { [name]: value }, verdict: 'either' };
    });
  // Most of what is read does not exist, so that few conditions are evaluated.
  const weight = names.includes('If-None-Match') ? 6 : 1;
  return fc.oneof({ weight: 3, arbitrary: none }, { weight, arbitrary: set });
}
