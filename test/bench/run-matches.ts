import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SingleBar } from 'cli-progress';
import { REDIS, findProgram } from '../support/programs';
import { RedisServer } from '../support/redis-server';
import { type Contender, peer, service } from './contenders';
import { waitBesideBusyClient } from './fairness';
import { type CleanUp, withCleanUp } from './harness/clean-up';
import { AGE, Databases, run, temporaryFolder } from './harness/databases';
import { loadTool } from './harness/load';
import { type Driving, measuredRun } from './harness/measured-run';
import { compare } from './harness/pairs';
import { RUN, output } from './harness/program';
import { type RunningContender, type Surroundings, startContender } from './harness/start-contender';
import type { LimiterFigures } from './limiter';
import { growWithClients, soak } from './memory';
import type { Options } from './options';
import { type Report, newReport } from './report';
import { OPERATIONS, workload } from './workloads';

/** Who is measured, and beside whom. */
export function contendersOf(options: Options): [Contender, ...Contender[]] {
  const { service: checkout, before, against, aged, peers } = options;
  if (against === 'redis') {
    const title = 'the service with Redis';
    return [service(checkout, { name: 'service-redis', title, needsRedis: true }), service(checkout)];
  }
  if (against === 'scale') {
    const title = 'the service with many pets';
    return [service(checkout, { name: 'service-large', title, hasManyPets: true }), service(checkout)];
  }
  const others =
    before === undefined ? [] : [service(before, { name: 'before', title: 'the service before', aged })];
  // The peers' statements are prepared on tables that are as large as they will be: at their best.
  const atTheirBest = peers.map((name) => ({ ...peer(name), hasManyPets: aged }));
  return [service(checkout, { aged }), ...atTheirBest, ...others];
}

/** Runs everything that the options ask for. Whatever it starts has ended when it returns, or throws because of the signal. */
export async function runAll(options: Options, signal: AbortSignal): Promise<Report> {
  const report = newReport(options);
  const format = '[{value}/{total}] {what}';
  const progress = new SingleBar({ format, clearOnComplete: true, gracefulExit: false });
  progress.start(options.only.length, 0, { what: 'preparing' });
  try {
    if (options.only.includes('limiter')) {
      progress.increment({ what: 'the limiter alone' });
      report.limiter = await measureLimiter(signal);
    }
    if (options.only.some((part) => part !== 'limiter')) {
      await withCleanUp((cleanUp) => runServers(options, progress, report, cleanUp, signal));
    }
  } finally {
    progress.stop();
  }
  return report;
}

/** In a process of its own: the heap is measured, and nothing else may live in it. */
async function measureLimiter(signal: AbortSignal): Promise<LimiterFigures> {
  const args = ['--expose-gc', RUN, join(__dirname, 'limiter.ts')];
  return JSON.parse(await output(process.execPath, args, { cwd: tmpdir(), signal })) as LimiterFigures;
}

/** Everything that needs a database. */
async function runServers(
  options: Options,
  progress: SingleBar,
  report: Report,
  cleanUp: CleanUp,
  signal: AbortSignal,
): Promise<void> {
  const { only, connections, seconds, clients, soakMinutes, service: checkout } = options;
  const folder = await temporaryFolder(cleanUp);
  const redisUrl = options.against === 'redis' ? await startRedis(cleanUp) : undefined;
  const databases = await Databases.start(join(folder, 'postgres'), cleanUp, signal);
  const surroundings = { ...options, folder, databases, redisUrl, signal };
  const driving = { tool: await loadTool(options.tool), connections, seconds, folder, signal };
  if (only.includes('fairness') || OPERATIONS.some((name) => only.includes(name))) {
    await withCleanUp((inner) => runRounds(surroundings, options, driving, progress, report, inner));
  }
  if (only.includes('clients')) {
    progress.increment({ what: `${clients} clients` });
    report.clients = await growWithClients(checkout, clients, surroundings, connections);
  }
  if (only.includes('soak')) {
    progress.increment({ what: `${soakMinutes} minutes of orders and reads` });
    report.soak = await soak(checkout, soakMinutes, surroundings, driving);
  }
}

/** All begin with fresh databases in fresh processes, so that none has done more work before than another. */
async function runRounds(
  surroundings: Surroundings,
  options: Options,
  driving: Driving,
  progress: SingleBar,
  report: Report,
  cleanUp: CleanUp,
): Promise<void> {
  const { only, pairs, warmUpSeconds } = options;
  const onRun = (what: string) => progress.update({ what });
  const running: RunningContender[] = [];
  for (const contender of contendersOf(options)) {
    onRun(`starting ${contender.title}`);
    const started = await startContender(contender, surroundings, cleanUp);
    running.push(contender.aged ? await aged(started, options, driving) : started);
  }
  const [subject, ...peers] = running;
  for (const name of OPERATIONS.filter((operation) => only.includes(operation))) {
    progress.increment();
    report.operations.push(await compare(subject!, peers, name, { pairs, warmUpSeconds, driving, onRun }));
  }
  if (only.includes('fairness')) {
    progress.increment();
    for (const contender of running) {
      onRun(`one client keeps ${contender.title} busy`);
      report.fairness.push(await waitBesideBusyClient(contender, driving));
    }
  }
}

/** Has a contender prepare its statements on its nearly empty tables, and then fills these. */
async function aged(
  contender: RunningContender,
  { only, manyPets: pets }: Options,
  driving: Driving,
): Promise<RunningContender> {
  for (const name of OPERATIONS) {
    const isInTheWay = name === 'post-pet' || name === 'post-pet-keyed' || name === 'too-many-requests';
    if (only.includes(name) && !isInTheWay) {
      await measuredRun(contender, await workload(name, contender), { ...driving, seconds: 1 });
    }
  }
  await run(contender.databaseUrl, AGE.grow(pets));
  return { ...contender, pets };
}

async function startRedis(cleanUp: CleanUp): Promise<string> {
  if (findProgram(REDIS) === undefined) {
    throw new Error('redis-server is not on the PATH: install it, or leave out --redis.');
  }
  const redis = await RedisServer.start();
  cleanUp.add(() => redis.close());
  return redis.url;
}
