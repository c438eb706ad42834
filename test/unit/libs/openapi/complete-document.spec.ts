// Own sources: the errors that are defined here must not be in anybody else's catalogue.
import type { OpenAPIObject } from '@nestjs/swagger';
import {
  defineError,
  type ErrorNote,
  NOTES,
  type SharedParts,
  completeDocument,
  errorWith,
} from '#libs/http';

const define = (code: string, status: number) =>
  defineError({
    code,
    status,
    when: `${code} happens.`,
    message: (what: string) => `${what} is ${code}.`,
    headers: (what: string): Record<string, string> => (status === 401 ? { Refused: what } : {}),
    example: ['This'],
  });
define('test_always', 500);
define('test_body', 400);
const OtherError = define('test_other', 400);
const RefusedError = define('test_refused', 401);
define('test_refused_too', 401);

const header = { description: 'A header.', schema: { type: 'string' } };
const PARTS: SharedParts = {
  headers: { Everywhere: header, Refused: header, Tag: header, Replayed: header, Old: header },
  parameters: {},
  schemas: { Error: { type: 'object' } },
  everyAnswer: ['Everywhere'],
  headerExamples: { 400: { Everywhere: 'wrong' } },
  everyOperation: [{ code: 'test_always' }],
  byMethod: { post: [{ code: 'test_body' }] },
  bodyTypes: { patch: ['application/merge-patch+json'] },
  responses: {},
  notKept: (status) => status === 401 || status >= 500,
};

interface Notes {
  errors?: (ErrorNote | string)[];
  headers?: { on: string; name: string; example?: string; description?: string }[];
  parameters?: { name: string; onlyFor?: string[] }[];
  never?: string[];
  bodies?: object;
}

type Header = { $ref?: string; example?: string; examples?: object; description?: string };

function draft({ errors = [], never = [], headers = [], parameters = [], bodies = {} }: Notes) {
  const json = { schema: { $ref: '#/components/schemas/Body' } };
  const content: Record<string, { schema: object; examples?: object }> = { 'application/json': json };
  return {
    operationId: 'doIt',
    responses: { 200: { description: 'Fine.' } } as Record<
      string,
      { headers?: Record<string, Header>; description?: string; content?: unknown; $ref?: string }
    >,
    parameters: [] as unknown[],
    requestBody: { content },
    [NOTES]: {
      errors: errors.map((error) => (typeof error === 'string' ? { code: error } : error)),
      never,
      headers,
      parameters,
      bodies,
    },
  };
}

function completeAll(paths: Record<string, object>, parts: Partial<SharedParts> = {}) {
  const components: OpenAPIObject['components'] = { schemas: { Body: { type: 'object' } } };
  const document = { openapi: '3.0.3', info: { title: 'Test', version: '1' }, paths, components };
  completeDocument(document, { ...PARTS, ...parts });
  return components as {
    headers: Record<string, Header>;
    schemas: Record<string, { additionalProperties?: boolean }>;
    responses: Record<string, { description: string }>;
  };
}

function complete(method: string, notes: Notes = {}) {
  const operation = draft(notes);
  const components = completeAll({ '/x': { [method]: operation } });
  return { ...operation, components };
}

const headersOf = (operation: ReturnType<typeof complete>, status: number) =>
  Object.keys(operation.responses[status]?.headers ?? {});

it('Errors of every operation, of the method and of the operation are documented by status', () => {
  const { responses } = complete('post', { errors: ['test_other', 'test_refused', 'test_other'] });
  expect(Object.keys(responses)).toEqual(['200', '400', '401', '500']);
  expect(responses[400]).toMatchObject({
    description: '`test_body`: test_body happens.\n\n`test_other`: test_other happens.',
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/Error' },
        examples: {
          test_other: { value: { code: 'test_other', message: 'This is test_other.', status: 400 } },
        },
      },
    },
  });
  const plain = complete('get');
  expect(Object.keys(plain.responses)).toEqual(['200', '500']);
  expect(plain).not.toHaveProperty(NOTES);
});

it('An undefined code is a defect', () => {
  expect(() => complete('get', { errors: ['test_nowhere'] })).toThrow('no code defines: test_nowhere.');
});

it('Header fields are documented on the responses that have them', () => {
  const operation = complete('post', {
    errors: ['test_refused'],
    headers: [
      { on: 'success', name: 'Tag' },
      { on: 'kept', name: 'Replayed' },
      { on: 'readable', name: 'Old' },
    ],
  });
  expect(headersOf(operation, 200)).toEqual(['Everywhere', 'Tag', 'Replayed', 'Old']);
  expect(headersOf(operation, 400)).toEqual(['Everywhere', 'Replayed', 'Old']);
  expect(headersOf(operation, 401)).toEqual(['Everywhere', 'Refused', 'Old']);
  expect(headersOf(operation, 500)).toEqual(['Everywhere', 'Old']);
  const describe = (status: number) => JSON.stringify(operation.responses[status]!.headers!.Old);
  expect(describe(400)).toContain('Absent if the request could not be read.');
  expect(describe(500)).not.toContain('Absent');
});

it('If-None-Match adds a 304, only to the methods it applies to', () => {
  const parameters = [{ name: 'If-None-Match', onlyFor: ['get'] }];
  const [get, put] = ['get', 'put'].map((method) => complete(method, { parameters }));
  expect(Object.keys(get!.responses)).toContain('304');
  expect(get!.parameters).toEqual([{ $ref: '#/components/parameters/If-None-Match' }]);
  expect(Object.keys(put!.responses)).not.toContain('304');
  expect(put!.parameters).toEqual([]);
});

it('A body has the additional media types of its method and its examples, and rejects unknown members', () => {
  const merge = ['application/json', 'application/merge-patch+json'];
  expect(Object.keys(complete('patch').requestBody.content)).toEqual(merge);
  const bodies = { first: { summary: 'One', value: {} } };
  const { requestBody, components } = complete('post', { bodies });
  expect(requestBody.content).toMatchObject({ 'application/json': { examples: bodies } });
  expect(Object.keys(requestBody.content)).toEqual(['application/json']);
  expect(components.schemas.Body!.additionalProperties).toBe(false);
});

test('An operation that is exempt from an error does not document it', () => {
  const { responses } = complete('get', { errors: ['test_refused'], never: ['test_refused'] });
  expect(JSON.stringify(responses)).not.toContain('test_refused');
});

it("An error uses the operation's own message and header fields", () => {
  const { responses } = complete('get', {
    errors: [
      errorWith(OtherError, 'Here'),
      'test_other',
      errorWith(RefusedError, 'Nobody'),
      'test_refused_too',
    ],
  });
  expect(responses[400]!.content).toMatchObject({
    'application/json': { examples: { test_other: { value: { message: 'Here is test_other.' } } } },
  });
  expect(responses[401]!.headers!.Refused).toEqual({
    description: 'A header.',
    schema: { type: 'string' },
    examples: { test_refused: { value: 'Nobody' }, test_refused_too: { value: 'This' } },
  });
});

it('A header field with a value specific to an operation is a separate component', () => {
  const note = { on: 'success', name: 'Tag', example: '<{path}?a>', description: 'Here.' };
  const { responses, components } = complete('get', { headers: [note] });
  expect(responses[200]!.headers!.Tag).toEqual({ $ref: '#/components/headers/doIt.Tag' });
  expect(components.headers).toEqual({
    Everywhere: PARTS.headers.Everywhere,
    'doIt.Tag': { ...PARTS.headers.Tag, example: '</x?a>', description: 'Here.' },
  });
});

it('A value that is wrong for a status is replaced there', () => {
  const { responses } = complete('get', { errors: ['test_other'] });
  expect(responses[400]!.headers!.Everywhere).toMatchObject({ example: 'wrong' });
  expect(responses[500]!.headers!.Everywhere).toEqual({ $ref: '#/components/headers/Everywhere' });
});

it('What most operations answer for a status is shared, and what another one answers is not', () => {
  const [first, second, other] = [
    draft({}),
    draft({}),
    draft({ headers: [{ on: 'readable', name: 'Old' }] }),
  ];
  const paths = { '/a': { get: first }, '/b': { get: other }, '/c': { get: second } };
  const components = completeAll(paths, { responses: { 500: 'Failed', 599: 'Never' } });
  const shared = { $ref: '#/components/responses/Failed' };
  expect([first.responses[500], second.responses[500]]).toEqual([shared, shared]);
  expect(Object.keys(other.responses[500]!.headers!)).toContain('Old');
  expect(Object.keys(components.responses)).toEqual(['Failed']);
  expect(components.responses.Failed!.description).toContain('test_always');
});
