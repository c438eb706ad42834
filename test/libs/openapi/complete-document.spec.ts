import type { OpenAPIObject } from '@nestjs/swagger';
import { defineError } from '#libs/errors';
import { NOTES, type SharedParts, completeDocument } from '#libs/openapi';

const define = (code: string, status: number) =>
  defineError({ code, status, when: `${code} happens.`, message: () => `This is ${code}.`, example: [] });
define('test_always', 500);
define('test_body', 400);
define('test_other', 400);
define('test_refused', 401);

const header = { description: 'A header.', schema: { type: 'string' } };
const PARTS: SharedParts = {
  headers: { Everywhere: header, Refused: header, Tag: header, Replayed: header, Old: header },
  parameters: {},
  schemas: { Error: { type: 'object' } },
  everyAnswer: ['Everywhere'],
  everyOperation: ['test_always'],
  byMethod: { post: ['test_body'] },
  bodyTypes: { patch: ['application/merge-patch+json'] },
  byStatus: { 401: ['Refused'] },
  notKept: (status) => status === 401 || status >= 500,
};

interface Notes {
  errors?: string[];
  headers?: { on: string; name: string }[];
  parameters?: { name: string; onlyFor?: string[] }[];
  never?: string[];
}

function complete(method: string, { errors = [], never = [], headers = [], parameters = [] }: Notes = {}) {
  const json = { 'application/json': { schema: { type: 'object' } } };
  const operation = {
    responses: { 200: { description: 'Fine.' } } as Record<
      string,
      { headers?: object; description: string; content?: unknown }
    >,
    parameters: [] as unknown[],
    requestBody: { content: json as Record<string, unknown> },
    [NOTES]: { errors, never, headers, parameters },
  };
  const document = { openapi: '3.0.3', paths: { '/x': { [method]: operation } }, components: {} };
  completeDocument(document as unknown as OpenAPIObject, PARTS);
  return operation;
}

const headersOf = (operation: ReturnType<typeof complete>, status: number) =>
  Object.keys(operation.responses[status]?.headers ?? {});

it('Notes are turned into parts of the document and leave no trace', () => {
  expect(complete('get')).not.toHaveProperty(NOTES);
});

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
  expect(Object.keys(complete('get').responses)).toEqual(['200', '500']);
});

it('A code that nothing defines is a defect', () => {
  expect(() => complete('get', { errors: ['test_nowhere'] })).toThrow('no code defines: test_nowhere.');
});

it('Header fields are documented on the answers that carry them', () => {
  const operation = complete('post', {
    errors: ['test_refused'],
    headers: [
      { on: 'success', name: 'Tag' },
      { on: 'kept', name: 'Replayed' },
      { on: 'every', name: 'Old' },
    ],
  });
  expect(headersOf(operation, 200)).toEqual(['Everywhere', 'Tag', 'Replayed', 'Old']);
  expect(headersOf(operation, 400)).toEqual(['Everywhere', 'Replayed', 'Old']);
  expect(headersOf(operation, 401)).toEqual(['Everywhere', 'Refused', 'Old']);
  expect(headersOf(operation, 500)).toEqual(['Everywhere', 'Old']);
});

it('If-None-Match brings its 304, and only to the methods it is for', () => {
  const parameters = [{ name: 'If-None-Match', onlyFor: ['get'] }];
  expect(Object.keys(complete('get', { parameters }).responses)).toContain('304');
  expect(complete('get', { parameters }).parameters).toEqual([
    { $ref: '#/components/parameters/If-None-Match' },
  ]);
  expect(Object.keys(complete('put', { parameters }).responses)).not.toContain('304');
  expect(complete('put', { parameters }).parameters).toEqual([]);
});

it('A body has the further types of its method', () => {
  expect(Object.keys(complete('patch').requestBody.content)).toEqual([
    'application/json',
    'application/merge-patch+json',
  ]);
  expect(Object.keys(complete('post').requestBody.content)).toEqual(['application/json']);
});

test('an operation that is exempt from an error does not document it', () => {
  const { responses } = complete('get', { errors: ['test_refused'], never: ['test_refused'] });
  expect(JSON.stringify(responses)).not.toContain('test_refused');
});
