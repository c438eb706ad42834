import { type AuditFilter, AuditTrail } from '../../../src/modules/audit';
import { ClientsService, KeysService } from '../../../src/modules/auth';
import { QuotaAdministration, agreedPlan } from '../../../src/modules/quotas';
import { useService } from '../../support/use-service';

const DAY = 86_400_000;

const service = useService();
const ids = { first: 0, second: 0, successor: 0 };

/** What the filter lets through, each entry as the action and whom it is about. */
async function found(filter: Partial<AuditFilter>): Promise<string[]> {
  const entries = await service.app.get(AuditTrail).newest({ limit: 50, ...filter });
  return entries.map(({ action, clientName, keyId }) => [action, clientName, keyId ?? '-'].join(' '));
}

beforeAll(async () => {
  const [clients, keys, bans] = [
    service.app.get(ClientsService),
    service.app.get(KeysService),
    service.app.get(QuotaAdministration),
  ];
  for (const name of ['acme', 'other']) {
    await clients.create(name, agreedPlan('free'));
    service.clock.advance(DAY);
  }
  ids.first = (await keys.issue({ client: 'acme' })).record.id;
  ids.second = (await keys.issue({ client: 'other' })).record.id;
  service.clock.advance(DAY);
  ids.successor = (await keys.rotate(ids.first, 0, () => Promise.resolve())).record.id;
  await bans.ban(ids.second);
});

test('without a filter, all entries are returned, newest first', async () => {
  expect(await found({})).toEqual([
    `key.banned other ${ids.second}`,
    `key.rotated acme ${ids.first}`,
    `key.issued other ${ids.second}`,
    `key.issued acme ${ids.first}`,
    'client.created other -',
    'client.created acme -',
  ]);
});

test('a limit omits the oldest entries', async () => {
  expect(await found({ limit: 2 })).toEqual([
    `key.banned other ${ids.second}`,
    `key.rotated acme ${ids.first}`,
  ]);
});

test('filtering by client includes the entries of its keys', async () => {
  expect(await found({ client: 'acme' })).toEqual([
    `key.rotated acme ${ids.first}`,
    `key.issued acme ${ids.first}`,
    'client.created acme -',
  ]);
  expect(await found({ client: 'acm' })).toEqual([]);
});

test('filtering by key includes the rotation that created it', async () => {
  expect(await found({ keyId: ids.first })).toEqual([
    `key.rotated acme ${ids.first}`,
    `key.issued acme ${ids.first}`,
  ]);
  expect(await found({ keyId: ids.successor })).toEqual([`key.rotated acme ${ids.first}`]);
});

test('actions are filtered by prefix, without wildcards', async () => {
  expect(await found({ actionPrefix: 'client.' })).toEqual([
    'client.created other -',
    'client.created acme -',
  ]);
  expect(await found({ actionPrefix: 'key.ban' })).toEqual([`key.banned other ${ids.second}`]);
  expect(await found({ actionPrefix: '%' })).toEqual([]);
  expect(await found({ actionPrefix: 'key_' })).toEqual([]);
});

test('since is inclusive', async () => {
  const rotated = service.clock.now();
  expect(await found({ since: new Date(rotated) })).toHaveLength(2);
  expect(await found({ since: new Date(rotated + 1) })).toEqual([]);
  expect(await found({ since: new Date(rotated - DAY) })).toHaveLength(4);
});

test('filters can be combined', async () => {
  const since = new Date(service.clock.now() - DAY);
  expect(await found({ client: 'acme', actionPrefix: 'key.', since, limit: 1 })).toEqual([
    `key.rotated acme ${ids.first}`,
  ]);
});
