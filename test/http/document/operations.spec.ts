import { type TestService, startService } from '../../support/service';
import { type Operation, operationsOf, sortedKeys } from '../../support/document';
import { TABLE } from './support/operations-table';

let service: TestService;
let operations: Map<string, Operation>;

beforeAll(async () => {
  service = await startService();
  operations = operationsOf(service.document);
});
afterAll(() => service.close());

/** Statuses that every operation can answer. */
const ALWAYS = [400, 401, 403, 408, 429, 431, 500, 503];

it('describes exactly the operations of the table', () => {
  expect([...operations.keys()].sort()).toEqual(TABLE.map(({ operation }) => operation).sort());
});

describe.each(TABLE)('$operation', ({ operation: name, id, tag, answers, others, body, markers = {} }) => {
  const operation = () => operations.get(name)!;

  it(`is ${id} of ${tag}, with exactly its markers`, () => {
    const { operationId, tags, summary, description } = operation();
    expect({ operationId, tags }).toEqual({ operationId: id, tags: [tag] });
    expect(summary).toMatch(/^[A-Z].+[^.]$/);
    expect(description).toMatch(/\.$/);
    const names = ['deprecated', ...Object.keys(operation()).filter((key) => key.startsWith('x-'))];
    const found = names.map((key) => [key, operation()[key as keyof Operation] as unknown] as const);
    expect(Object.fromEntries(found.filter(([, value]) => value !== undefined))).toEqual(markers);
  });

  it('answers with exactly these statuses', () => {
    expect(sortedKeys(operation().responses)).toEqual([...ALWAYS, ...others, answers[0]].map(String).sort());
  });

  it('returns its schema on success', () => {
    const [status, schema] = answers;
    const content = operation().responses[status]!.content;
    const ref = { $ref: `#/components/schemas/${schema.replace('[]', '')}` };
    const expected = schema.endsWith('[]') ? { type: 'array', items: ref, maxItems: 100 } : ref;
    expect(content?.['application/json']?.schema).toEqual(schema === '' ? undefined : expected);
  });

  it('accepts the key in either header field', () => {
    expect(operation().security).toEqual(expect.arrayContaining([{ apiKey: [] }, { bearer: [] }]));
    expect(operation().security).toHaveLength(2);
  });

  it(body ? `takes ${body} as its body` : 'takes no body', () => {
    const types = name.startsWith('PATCH')
      ? ['application/json', 'application/merge-patch+json']
      : ['application/json'];
    const schema = { $ref: `#/components/schemas/${body}` };
    const { required, content = {} } = operation().requestBody ?? {};
    const taken = Object.entries(content).map(([type, part]) => [type, part.schema]);
    expect([required, taken]).toEqual(body ? [true, types.map((type) => [type, schema])] : [undefined, []]);
  });
});
