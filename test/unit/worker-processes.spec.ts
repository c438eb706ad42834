import cluster from 'node:cluster';
import type { Worker } from 'node:cluster';
import { EventEmitter } from 'node:events';
import type { Logger } from 'pino';
import { WorkerProcesses } from '../../src/runtime/worker-processes';
import { usableCores } from '../../src/runtime/usable-cores';

class FakeWorker extends EventEmitter {
  private static created = 0;
  readonly id = (FakeWorker.created += 1);
  process = { send: () => true, kill: jest.fn() };
  send = jest.fn();

  constructor(private readonly dead = false) {
    super();
  }

  isDead(): boolean {
    return this.dead;
  }
}

it('A worker that shows no sign of life for ten of its intervals is killed, and one that does is not', async () => {
  jest.useFakeTimers();
  const forked = [new FakeWorker(), new FakeWorker()];
  const [alive, hanging] = forked as [FakeWorker, FakeWorker];
  const fork = jest.spyOn(cluster, 'fork').mockImplementation(() => forked.shift() as unknown as Worker);
  try {
    const processes = new WorkerProcesses(2, {}, () => undefined, {} as Logger);
    void processes.start();
    alive.emit('listening', { port: 1 });
    await jest.advanceTimersByTimeAsync(0);
    hanging.emit('message', { beat: true });
    for (let second = 0; second < 11; second += 1) {
      expect(hanging.process.kill).not.toHaveBeenCalled();
      alive.emit('message', { beat: true });
      jest.advanceTimersByTime(1_000);
    }
    expect(hanging.process.kill.mock.calls).toEqual([['SIGKILL']]);
    expect(alive.process.kill).not.toHaveBeenCalled();
  } finally {
    fork.mockRestore();
    jest.useRealTimers();
  }
});

it('A stop during the start forks no further workers, and waits for none that is dead already', async () => {
  const first = new FakeWorker();
  const fork = jest.spyOn(cluster, 'fork').mockReturnValue(first as unknown as Worker);
  const workers = { 1: first, 2: new FakeWorker(true) } as unknown as Record<string, Worker>;
  const list = jest.replaceProperty(cluster, 'workers', workers);
  try {
    const processes = new WorkerProcesses(4, {}, () => undefined, {} as Logger);
    const started = processes.start();
    const stopped = processes.stop();
    first.emit('listening', { port: 1 });
    expect(await started).toBeNull();
    first.emit('exit', 0, null);
    await stopped;
    expect(fork).toHaveBeenCalledTimes(1);
    expect(first.send).toHaveBeenCalledTimes(1);
  } finally {
    fork.mockRestore();
    list.restore();
  }
});

it('A worker that cannot start after the first could is started again', async () => {
  jest.useFakeTimers();
  const forked = [new FakeWorker(), new FakeWorker(), new FakeWorker()];
  const [first, refused, second] = forked as [FakeWorker, FakeWorker, FakeWorker];
  const fork = jest.spyOn(cluster, 'fork').mockImplementation(() => forked.shift() as unknown as Worker);
  try {
    const started = new WorkerProcesses(2, {}, () => undefined, {} as Logger).start();
    first.emit('listening', { port: 1 });
    await jest.advanceTimersByTimeAsync(0);
    refused.emit('exit', 1, null);
    await jest.advanceTimersByTimeAsync(1_000);
    second.emit('listening', { port: 1 });
    expect(await started).toEqual({ port: 1 });
  } finally {
    fork.mockRestore();
    jest.useRealTimers();
  }
});

test.each([
  ['without a limit, all cores', 8, 'max 100000\n', 8],
  ['where nothing is told, all cores', 8, 'max', 8],
  ['no more than the limit allows', 8, '200000 100000\n', 2],
  ['a limit between two numbers is rounded down', 8, '350000 100000\n', 3],
  ['at least one', 8, '50000 100000\n', 1],
  ['no more cores than there are', 2, '800000 100000\n', 2],
  ['what cannot be read limits to one', 4, 'nonsense', 1],
])('%s', (_name, cores, limit, usable) => {
  expect(usableCores(cores, limit)).toBe(usable);
});
