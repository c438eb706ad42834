import { execFileSync } from 'node:child_process';
import { startEmbeddedPostgres } from '#libs/embedded-postgres';
import { petstoreJson } from '../../support/command-line';
import { eventually } from '../../support/eventually';
import { query } from '../../support/query';
import { ServiceBench } from '../../support/service-process';
import { TcpProxy } from '../../support/tcp-proxy';

const bench = new ServiceBench();
afterAll(() => bench.clear());

it('after a failover the pool leads to the new primary, although the old one still answers, and a revoked key is refused there', async () => {
  const start = (name: string) =>
    startEmbeddedPostgres({ dataDirectory: bench.path(name), database: 'store' });
  const first = await start('old');
  await petstoreJson(['db', 'migrate'], { DATABASE_URL: first.url });
  await petstoreJson(['clients', 'create', '--name', 'acme'], { DATABASE_URL: first.url });
  const issue = ['keys', 'issue', '--client', 'acme'];
  const { key, id } = await petstoreJson<{ key: string; id: number }>(issue, { DATABASE_URL: first.url });
  await first.stop();
  execFileSync('cp', ['-a', bench.path('old'), bench.path('new')]);
  const [old, promoted] = [await start('old'), await start('new')];
  const proxy = await TcpProxy.start(old.url);
  try {
    const service = await bench.serve({ DATABASE_URL: proxy.url });
    const status = async () => (await service.send(key, 'GET', '/rate-limit')).status;
    expect(await status()).toBe(200);

    proxy.moveTo(promoted.url);
    await query(
      old.url,
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'petstore%'`,
    );
    await eventually(async () => expect(await status()).toBe(200));
    await query(promoted.url, 'UPDATE api_keys SET revoked_at = now() WHERE id = $1', [id]);
    await eventually(async () => expect(await status()).toBe(401));
    await service.end();
  } finally {
    await proxy.close();
    await Promise.all([old.stop(), promoted.stop()]);
  }
});
