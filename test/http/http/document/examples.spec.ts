import { SeedService } from '../../../../src/runtime/seed';
import { operationsOf } from '../../../support/document';
import { useService } from '../../../support/use-service';

const service = useService();
const ORDER = ['POST', 'GET', 'PUT', 'PATCH', 'DELETE'];

it('On a store with the sample catalogue, the first examples of all operations succeed, sent as they are, but for those of webhooks', async () => {
  await service.app.get(SeedService).seed();
  const { key } = await service.issueKey();
  const operations = [...operationsOf(service.document)]
    .map(([name, operation]) => ({ method: name.split(' ')[0]!, path: name.split(' ')[1]!, operation }))
    .filter(({ path }) => !path.startsWith('/webhooks'))
    // What is deleted at last was created, read and changed before.
    .sort((a, b) => ORDER.indexOf(a.method) - ORDER.indexOf(b.method) || b.path.length - a.path.length);
  const outcomes: string[] = [];
  for (const { method, path, operation } of operations) {
    const values = operation.parameters.map((part) => ({
      ...part,
      value: part.example ?? part.schema.example,
    }));
    const query = new URLSearchParams();
    for (const { name, value } of values.filter((part) => part.in === 'query' && part.value !== undefined)) {
      [value].flat().forEach((each) => query.append(name, String(each)));
    }
    const target = values.reduce((all, { name, value }) => all.replace(`{${name}}`, String(value)), path);
    const [example] = Object.values(operation.requestBody?.content['application/json']?.examples ?? {});
    const response = await fetch(`${service.url}${target}?${query.toString()}`, {
      method,
      headers: { 'X-API-Key': key, ...(example && { 'Content-Type': 'application/json' }) },
      body: example && JSON.stringify(example.value),
    });
    if (!response.ok) outcomes.push(`${method} ${target}: ${await response.text()}`);
  }
  // Every category of the catalogue has pets.
  expect(outcomes).toEqual([expect.stringMatching(/^DELETE \/categories\/1: .*category_in_use/)]);
});
