import { MetricsService } from '../../../src/runtime/metrics';
import type { ApiClient } from '../../support/api-client';
import { Arrange, type Pet, aPet } from '../../support/builders';
import { LISTS, ReplicatedService } from './support/replicated-service';

let replicated: ReplicatedService;
let writer: ApiClient;
let reader: ApiClient;
let pet: Pet;

beforeAll(async () => {
  replicated = await ReplicatedService.start();
  writer = await replicated.service.caller();
  reader = await replicated.service.caller();
  pet = await new Arrange(writer).pet(aPet(), 100);
});

afterAll(() => replicated?.close());

async function textsOf(client: ApiClient): Promise<string[]> {
  const lists = [
    '/pets?name=Own',
    '/categories?name=Own',
    `/store/orders?petId=${pet.id}`,
    '/store/inventory',
  ];
  return Promise.all(lists.map(async (list) => (await client.get(list)).text));
}

it('Lists are read from the replica, and nothing else is', async () => {
  await replicated.readsFromReplica(reader);
  const getAll = (targets: string[]) => () => Promise.all(targets.map((target) => reader.get(target)));
  const lists = [...LISTS, `/pets?id=${pet.id}`];
  expect(await replicated.readsDuring(getAll(lists))).toEqual({ primary: 0, replica: 5 });
  const others = [`/pets/${pet.id}`, `/store/inventory/${pet.id}`, `/categories/${pet.categoryId}`, '/usage'];
  expect(await replicated.readsDuring(getAll(others))).toEqual({ primary: 0, replica: 0 });
});

it('A client finds in every list what it has just written, while others may not yet', async () => {
  await replicated.readsFromReplica(reader);
  const arrange = new Arrange(writer);
  let before: string[] = [];
  const write = async () => {
    // Not earlier: until it stood still, the replica may have been behind.
    before = await textsOf(reader);
    await arrange.pet(aPet().named('Owned'));
    await arrange.category('Ownership');
    await arrange.order(pet.id);
  };
  await replicated.whileBehind(write, async () => {
    // Asked at the same time, for the same pages: no answer may be shared between them.
    const [forReader, [pets, categories, orders, inventory]] = await Promise.all([
      textsOf(reader),
      textsOf(writer),
    ]);
    expect(forReader).toEqual(before);
    expect(pets).toContain('Owned');
    expect(categories).toContain('Ownership');
    expect(orders).toContain(`"petId":${pet.id}`);
    expect(inventory).toContain('"quantity":99');
    // What is no list is read from the primary, whoever asks.
    const { body } = await reader.get<{ quantity: number }>(`/store/inventory/${pet.id}`);
    expect(body.quantity).toBe(99);
  });
  await replicated.readsFromReplica(writer);
  expect(await textsOf(reader)).toEqual(await textsOf(writer));
});

it('Whoever has tried to write reads from the primary, whatever came of it; others do not', async () => {
  await replicated.readsFromReplica(writer);
  await replicated.readsFromReplica(reader);
  expect((await writer.delete(`/categories/${pet.categoryId}`)).status).toBe(409);
  expect(await replicated.readsDuring(() => writer.get('/pets'))).toEqual({ primary: 1, replica: 0 });
  expect(await replicated.readsDuring(() => reader.get('/pets'))).toEqual({ primary: 0, replica: 1 });
});

it('A walk through a list goes on from one database to the other without a gap or a repetition', async () => {
  const arrange = new Arrange(writer);
  for (let count = 0; count < 9; count += 1) {
    await arrange.category(`Walk ${count}`);
  }
  await replicated.readsFromReplica(writer);
  await replicated.readsFromReplica(reader);
  const { body: all } = await writer.get<{ id: number }[]>('/categories?name=Walk');
  const seen: number[] = [];
  const sources: string[] = [];
  let target: string | undefined = '/categories?name=Walk&limit=3';
  while (target !== undefined) {
    const page: string = target;
    const { replica } = await replicated.readsDuring(async () => {
      const { body, headers } = await reader.get<{ id: number }[]>(page);
      seen.push(...body.map(({ id }) => id));
      target = /<(.+)>; rel="next"/.exec(headers.get('Link') ?? '')?.[1];
    });
    sources.push(replica === 1 ? 'replica' : 'primary');
    if (sources.length === 1) {
      await new Arrange(reader).category('Walk on');
    } else {
      await replicated.readsFromReplica(reader);
    }
  }
  expect(sources).toEqual(['replica', 'primary', 'replica', 'replica']);
  expect(seen.slice(0, 9)).toEqual(all.map(({ id }) => id));
  expect(new Set(seen).size).toBe(10);
});

it('Whoever runs the service is told', async () => {
  const ready = await fetch(`${replicated.service.url}/health/ready`);
  expect(ready.status).toBe(200);
  expect(await ready.json()).toMatchObject({ details: { replicas: { configured: 1, inUse: 1 } } });
  const figures = await replicated.service.app.get(MetricsService).text();
  expect(figures).toMatch(/^petstore_replicas_in_use 1$/m);
  expect(figures).toMatch(/^petstore_replica_lag_seconds\{replica="127\.0\.0\.1:\d+"\} 0\.\d+$/m);
  const { primary, replica } = replicated.replicas.reads;
  expect(figures).toContain(`petstore_list_reads_total{source="primary"} ${primary}\n`);
  expect(figures).toContain(`petstore_list_reads_total{source="replica"} ${replica}\n`);
});
