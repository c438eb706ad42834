import { ServiceBench, until } from '../support/service-process';
import { OrderLoad, unlimitedKey } from './support/order-load';

const bench = new ServiceBench();

afterAll(() => bench.clear());

describe('kill -9 under load', () => {
  it('loses nothing that was acknowledged when it hits the service', async () => {
    const environment = bench.embedded();
    const service = await bench.serve(environment);
    const load = new OrderLoad(service, await unlimitedKey(environment));
    await load.start();
    await until(() => load.acknowledged.size >= 200);
    await service.end('SIGKILL');
    await load.stop();
    const orphan = bench.postmaster();
    expect(orphan).toBeDefined();

    const next = await bench.serve(environment);
    expect(bench.postmaster()).toBe(orphan);
    expect(await load.missing(next)).toEqual([]);
    const { held, expected } = await load.stock(next);
    expect(held).toEqual(expected);
    expect(await next.end()).toEqual({ code: 0, signal: null });
    expect(bench.postmaster()).toBeUndefined();
  });

  it('is answered 503 and mended by the service itself when it hits the database', async () => {
    const environment = bench.embedded();
    const service = await bench.serve(environment);
    const load = new OrderLoad(service, await unlimitedKey(environment, 'load-2'));
    await load.start();
    await until(() => load.acknowledged.size >= 100);
    process.kill(bench.postmaster()!, 'SIGKILL');
    await until(() => load.statuses.has(503));
    const before = load.acknowledged.size;
    await until(() => load.acknowledged.size >= before + 100);
    await load.stop();

    // Every 500 is logged with its reason.
    expect(service.stdout.split('\n').filter((line) => line.includes('internal_error'))).toEqual([]);
    expect([...load.statuses.keys()].sort()).toEqual([200, 201, 204, 503]);
    expect(load.withoutRetryAfter).toEqual([]);
    expect(await load.missing(service)).toEqual([]);
    const { held, expected } = await load.stock(service);
    expect(held).toEqual(expected);
    expect(service.stderr).toBe('');
    expect((await fetch(`${service.url}/health/ready`)).status).toBe(200);
    expect(await service.end()).toEqual({ code: 0, signal: null });
    expect(bench.postmaster()).toBeUndefined();
  });
});
