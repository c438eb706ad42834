import { errorCatalogue } from '#libs/http';
import { useService } from '../../support/use-service';
import { type Operation, operationsOf } from '../../support/document';

const service = useService();
let operations: [string, Operation][];
beforeAll(() => {
  operations = [...operationsOf(service.document)];
});

const json = ({ content }: { content?: Operation['responses'][string]['content'] }) =>
  content?.['application/json'];
const headersOf = (response: Operation['responses'][string]) => Object.entries(response.headers ?? {});

it('Every request body and every success body has an example', () => {
  for (const [name, { requestBody, responses }] of operations) {
    const examples = requestBody && Object.keys(json(requestBody)?.examples ?? {});
    expect([name, examples?.length]).not.toEqual([name, 0]);
    for (const [, response] of Object.entries(responses).filter(([status]) => Number(status) < 300)) {
      const content = json(response);
      const examples = content?.example ?? content?.examples;
      expect([name, content === undefined || examples !== undefined]).toEqual([name, true]);
    }
  }
});

it('Every parameter and every header field has an example', () => {
  for (const [name, operation] of operations) {
    const without = operation.parameters.filter(
      ({ example, schema }) => example === undefined && schema.example === undefined,
    );
    expect([name, without]).toEqual([name, []]);
    const headers = Object.values(operation.responses).flatMap(headersOf);
    const empty = headers.filter(([, header]) => header.example === undefined && !header.examples);
    expect([name, empty]).toEqual([name, []]);
  }
});

it('Every error of a status has an example', () => {
  for (const [name, { responses }] of operations) {
    for (const response of Object.values(responses)) {
      const told = [...response.description.matchAll(/^`(\w+)`: /gm)].map(([, code]) => code);
      expect([name, Object.keys(json(response)?.examples ?? {})]).toEqual([
        name,
        expect.arrayContaining(told),
      ]);
    }
  }
});

it('Header fields of an error example are those the error sends, with its values', () => {
  const catalogue = new Map(errorCatalogue().map((definition) => [definition.code, definition]));
  for (const [name, { responses }] of operations) {
    for (const response of Object.values(responses)) {
      const shown = Object.fromEntries(headersOf(response).map(([field, { examples }]) => [field, examples]));
      for (const code of Object.keys(json(response)?.examples ?? {}).filter((key) => catalogue.has(key))) {
        for (const [field, value] of Object.entries(catalogue.get(code)!.exampleHeaders)) {
          const expected = code === 'insufficient_scope' ? expect.stringContaining('scope=') : value;
          // A number of seconds differs each time, and has one example for all.
          const values = shown[field] ?? { [code]: { value } };
          expect([name, field, String(values[code]?.value)]).toEqual([name, field, expected]);
        }
      }
    }
  }
});

describe('An example is correct for its operation:', () => {
  const valueOf = (name: string, status: string, field: string) => {
    const response = operationsOf(service.document).get(name)!.responses[status]!;
    return headersOf(response).find(([header]) => header === field)![1].example as string;
  };

  it('the next page of a list is on its own path', () => {
    const lists = operations.filter(([, { operationId }]) => operationId.startsWith('list'));
    expect(lists).toHaveLength(7);
    for (const [name] of lists) {
      const path = name.replace('GET ', '');
      expect(valueOf(name, '200', 'Link')).toMatch(new RegExp(`^<${path}\\?cursor=\\w+>; rel="next"$`));
    }
  });

  it('a created resource is located below the path of the request', () => {
    const creating = operations.filter(([, { responses }]) => '201' in responses);
    expect(creating).toHaveLength(4);
    for (const [name] of creating) {
      expect(valueOf(name, '201', 'Location')).toBe(`${name.replace('POST ', '')}/1`);
    }
  });

  it('a deprecated operation shows the sunset that its responses announce', async () => {
    const { headers } = await (await service.caller()).get('/pets/1');
    for (const field of ['Deprecation', 'Sunset', 'Link']) {
      expect(valueOf('GET /pets/{petId}', '404', field)).toBe(headers.get(field));
    }
  });

  it('the missing scope is the one the operation needs', () => {
    // Any valid key may ask for itself.
    const scoped = [...operations].filter(([name]) => !['GET /key', 'GET /rate-limit'].includes(name));
    for (const [name, { responses }] of scoped) {
      const { message } = json(responses[403]!)!.examples!.insufficient_scope!.value as { message: string };
      expect(message).toContain(`the scope ${name.startsWith('GET') ? 'read' : 'write'}.`);
    }
  });

  it('a response that refuses a request for a limit has no requests remaining', () => {
    expect(valueOf('GET /pets', '429', 'X-RateLimit-Remaining')).toBe(0);
    expect(valueOf('GET /pets', '429', 'RateLimit')).toContain('r=0;');
  });
});
