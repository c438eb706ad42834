import { freePort } from '../../support/redis-server';
import { ServiceBench } from '../../support/service-process';
import { type TestDatabase, createTestDatabase } from '../../support/test-database';

const bench = new ServiceBench();
let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});

afterAll(async () => {
  await bench.clear();
  await database.drop();
});

describe('metrics', () => {
  it('are served on their own port only', async () => {
    const METRICS_PORT = String(await freePort());
    const service = await bench.serve({ DATABASE_URL: database.url, METRICS_PORT });
    expect((await fetch(`${service.url}/metrics`)).status).not.toBe(200);
    await fetch(`${service.url}/pets`);

    const metrics = `http://127.0.0.1:${METRICS_PORT}`;
    const answer = await fetch(`${metrics}/metrics`);
    expect(answer.headers.get('Content-Type')).toMatch(/^text\/plain; version=0\.0\.4/);
    const text = await answer.text();
    expect(text).toMatch(/petstore_http_requests_total\{operation="\/pets",method="GET",status="401"\} 1\n/);
    expect(text).toMatch(
      /petstore_http_requests_total\{operation="unknown",method="GET",status="40\d"\} 1\n/,
    );
    for (const name of [
      'process_cpu_seconds_total',
      'process_resident_memory_bytes',
      'nodejs_heap_size_used_bytes',
      'petstore_http_connections',
      'petstore_http_requests_in_progress',
    ]) {
      expect(text).toMatch(new RegExp(`^${name} \\d`, 'm'));
    }
    expect((await fetch(`${metrics}/pets`)).status).toBe(404);

    expect(await service.end()).toEqual({ code: 0, signal: null });
    await expect(fetch(`${metrics}/metrics`)).rejects.toThrow();
  });
});
