import { complaint, petstore, petstoreJson } from '../../support/command-line';
import { ServiceBench } from '../../support/service-process';

const bench = new ServiceBench();

afterAll(() => bench.clear());

describe('a command without DATABASE_URL', () => {
  it('makes the embedded database, brings it up to date and stops it again', async () => {
    const environment = bench.embedded();
    const states = await petstoreJson<{ state: string }[]>(['db', 'status'], environment);
    expect(states.every(({ state }) => state === 'pending')).toBe(true);
    expect(await petstoreJson(['clients', 'create', '--name', 'acme'], environment)).toMatchObject({ id: 1 });
    expect(await petstoreJson(['clients', 'list'], environment)).toMatchObject([{ id: 1, name: 'acme' }]);
    const both = await Promise.all(
      ['one', 'two'].map((name) => petstoreJson(['clients', 'create', '--name', name], environment)),
    );
    expect(both).toHaveLength(2);
    expect(bench.postmaster()).toBeUndefined();
  });

  it('says in one line that DATA_DIR is a file', async () => {
    const DATA_DIR = __filename;
    expect(await petstore(['clients', 'list'], { DATA_DIR })).toEqual(
      complaint(1, /is a file and not a folder/),
    );
  });
});
