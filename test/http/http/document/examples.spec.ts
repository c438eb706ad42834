import { SeedService } from '../../../../src/runtime/seed';
import { bodyOf, operationsOf } from '../../../support/document';
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
  expect(operations).toHaveLength(24);
  for (const { method, path, operation } of operations) {
    const values = operation.parameters.map((part) => ({
      ...part,
      value: part.example ?? part.schema.example,
    }));
    expect([method, path, values.filter(({ value }) => value === undefined)]).toEqual([method, path, []]);
    const query = new URLSearchParams();
    for (const { name, value } of values.filter((part) => part.in === 'query')) {
      [value].flat().forEach((each) => query.append(name, String(each)));
    }
    const target = values.reduce((all, { name, value }) => all.replace(`{${name}}`, String(value)), path);
    const conditions = values.filter((part) => part.in === 'header');
    const body = bodyOf(service.document, operation);
    const response = await fetch(`${service.url}${target}?${query.toString()}`, {
      method,
      headers: {
        ...Object.fromEntries(conditions.map(({ name, value }) => [name, String(value)])),
        'X-API-Key': key,
        ...(body && { 'Content-Type': 'application/json' }),
      },
      body: body && JSON.stringify(body),
    });
    expect([method, target, response.ok ? '' : await response.text()]).toEqual([method, target, '']);
  }
});
