import { type Parameter, operationsOf, parametersOf } from '../../support/document';
import { RecordedStatements } from '../database/support/recorded-statements';
import { FuzzClient } from '../fuzz/support/fuzz-client';
import type { FuzzRequest } from '../fuzz/support/fuzz-request';
import {
  HOSTILE_FIELDS,
  HOSTILE_JSON,
  HOSTILE_QUERIES,
  HOSTILE_SEGMENTS,
} from '../fuzz/support/hostile-values';
import { type Schema, plain } from '../fuzz/support/schema-values';
import { Arrange } from '../../support/builders';
import { spread } from '../../support/spread';
import { useService } from '../../support/use-service';

const service = useService();
let client: FuzzClient;

beforeAll(async () => {
  client = await FuzzClient.of(service);
});
afterAll(() => client.close());

/** Members with which a body of any operation is valid but for the one that is hostile. */
const OTHERS: Record<string, unknown> = { name: 'Rex', categoryId: 1, petId: 1, quantity: 1, delta: 1 };

/** Every value that breaks careless services, in every place of every operation that takes one. */
function requests(): FuzzRequest[] {
  return [...operationsOf(service.document)].flatMap(([name, operation]) => {
    const [method = '', path = ''] = name.split(' ');
    const parameters = parametersOf(service.document, operation);
    const body = operation.requestBody?.content['application/json']?.schema as Schema | undefined;
    const schema = body ? plain(service.document, body) : {};
    return [...inParameters(method, path, parameters, schema), ...inMembers(method, path, schema)];
  });
}

function inParameters(method: string, path: string, parameters: Parameter[], schema: Schema): FuzzRequest[] {
  const base = bodyOf(schema);
  const written = (target: string, headers = {}): FuzzRequest => ({
    ...{ as: 'owner', method, target, verdict: 'either', headers: { ...headers, ...base.headers } },
    ...(base.body === undefined ? {} : { body: base.body }),
  });
  return parameters.flatMap((parameter) => {
    switch (parameter.in) {
      case 'path':
        return HOSTILE_SEGMENTS.map((value) => ({
          ...written(path.replace(/\{\w+\}/, () => value)),
          verdict: 'bad' as const,
        }));
      case 'query':
        return HOSTILE_QUERIES.map((value) => written(`${plainPath(path)}?${parameter.name}=${value}`));
      default:
        return HOSTILE_FIELDS.map((value) => written(plainPath(path), { [parameter.name]: value }));
    }
  });
}

function inMembers(method: string, path: string, schema: Schema): FuzzRequest[] {
  return Object.keys(schema.properties ?? {}).flatMap((name) =>
    HOSTILE_JSON.map((json) => ({
      ...{ as: 'owner' as const, method, target: plainPath(path), verdict: 'either' as const },
      ...bodyOf(schema, { name, json }),
    })),
  );
}

function bodyOf(
  { properties, required = [] }: Schema,
  hostile?: { name: string; json: string },
): Pick<FuzzRequest, 'headers' | 'body'> {
  if (!properties) {
    return { headers: {} };
  }
  const members = required
    .filter((name) => name !== hostile?.name)
    .map((name) => `"${name}":${JSON.stringify(OTHERS[name])}`);
  const all = hostile ? [...members, `"${hostile.name}":${hostile.json}`] : members;
  return { headers: { 'Content-Type': 'application/json' }, body: `{${all.join(',')}}` };
}

function plainPath(path: string): string {
  return path.replace(/\{\w+\}/, '1');
}

it('Hostile values get a documented response in every parameter and field, and never become SQL', async () => {
  await new Arrange(await service.caller()).pet();
  const recorded = new RecordedStatements();
  const failures: string[] = [];
  const all = requests();
  const statements = await recorded.allDuring(() =>
    spread([service.anonymous()], all.length, async (_caller, index) => {
      await client.send(all[index]!).catch((error: Error) => failures.push(error.message.slice(0, 500)));
    }),
  );
  recorded.stop();
  expect(failures).toEqual([]);
  expect(all.length).toBeGreaterThan(1_500);
  const texts = [...new Set(statements.map(({ text }) => text))];
  expect(texts.length).toBeGreaterThan(20);
  expect(texts.filter((text) => /DROP TABLE|pg_sleep|'1'='1|FROM api_keys --|<script>/.test(text))).toEqual(
    [],
  );
});
