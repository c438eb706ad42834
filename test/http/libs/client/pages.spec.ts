import { json, scriptedClient } from '../../../support/scripted';

const page = (ids: number[], cursor?: string) =>
  json(
    ids.map((id) => ({ id, name: 'Rex', categoryId: 1 })),
    cursor === undefined ? {} : { Link: `<https://elsewhere.test/pets?cursor=${cursor}>; rel="next"` },
  );

async function idsOf(entries: AsyncIterable<{ id: number }>): Promise<number[]> {
  const ids: number[] = [];
  for await (const { id } of entries) {
    ids.push(id);
  }
  return ids;
}

describe('The pages of a list', () => {
  it('are requested from the same host, with the given filters, whatever the link says', async () => {
    const { client, sent } = scriptedClient([page([1, 2], 'a'), page([3])], {
      baseUrl: 'https://store.test/v1/',
    });
    expect(await idsOf(client.pets.list({ status: ['available', 'sold'] }))).toEqual([1, 2, 3]);
    expect(sent.map(({ url }) => url)).toEqual([
      'https://store.test/v1/pets?limit=100&status=available&status=sold',
      'https://store.test/v1/pets?limit=100&status=available&status=sold&cursor=a',
    ]);
  });

  it('are read only on demand', async () => {
    const { client, sent } = scriptedClient([page([1, 2], 'a'), page([3])]);
    for await (const { id } of client.pets.list()) {
      if (id === 2) break;
    }
    expect(sent.length).toBe(1);
  });
});
