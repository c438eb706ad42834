import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RedisServer } from '../support/redis-server';
import { growWithClients } from './clients';
import { type Contender, peer, service } from './contenders';
import { waitBesideBusyClient } from './fairness';
import { type CleanUp, withCleanUp } from './harness/clean-up';
import { AGE, Databases, run } from './harness/databases';
import { loadTool } from './harness/load';
import { type Driving, measuredRun } from './harness/measured-run';
import { compare } from './harness/pairs';
import { RUN, findOnPath, output } from './harness/program';
import { Progress } from './harness/progress';
import { type RunningContender, type Surroundings, startContender } from './harness/start-contender';
import type { LimiterFigures } from './limiter';
import type { Options } from './options';
import { type Report, newReport } from './report';
import { soak } from './soak';
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
  const { only } = options;
  const progress = new Progress(only.length);
  try {
    if (only.includes('limiter')) {
      progress.show('the limiter alone');
      report.limiter = await measureLimiter(signal);
      progress.next();
    }
    if (only.some((part) => part !== 'limiter')) {
      await withCleanUp((cleanUp) => runServers(options, progress, report, cleanUp, signal));
    }
  } finally {
    progress.clear();
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
  progress: Progress,
  report: Report,
  cleanUp: CleanUp,
  signal: AbortSignal,
): Promise<void> {
  const { only, connections, seconds, service: checkout } = options;
  const folder = await temporaryFolder(cleanUp);
  const redisUrl = options.against === 'redis' ? await startRedis(cleanUp) : undefined;
  progress.show('preparing the databases');
  const databases = await Databases.start(join(folder, 'postgres'), cleanUp, signal);
  const surroundings = { ...options, folder, databases, redisUrl, signal };
  const driving = { tool: await loadTool(options.tool), connections, seconds, folder, signal };
  if (only.includes('fairness') || OPERATIONS.some((name) => only.includes(name))) {
    await runRounds(surroundings, options, driving, progress, report);
  }
  if (only.includes('clients')) {
    progress.show(`${options.clients} clients`);
    report.clients = await growWithClients(checkout, options.clients, surroundings, connections);
    progress.next();
  }
  if (only.includes('soak')) {
    progress.show(`${options.soakMinutes} minutes of orders and reads`);
    report.soak = await soak(checkout, options.soakMinutes, surroundings, driving);
  }
}

/** All begin with fresh databases in fresh processes, so that none has done more work before than another. */
function runRounds(
  surroundings: Surroundings,
  options: Options,
  driving: Driving,
  progress: Progress,
  report: Report,
): Promise<void> {
  return withCleanUp(async (cleanUp) => {
    const running: RunningContender[] = [];
    for (const contender of contendersOf(options)) {
      progress.show(`starting ${contender.title}`);
      const started = await startContender(contender, surroundings, cleanUp);
      running.push(contender.aged ? await aged(started, options, driving) : started);
    }
    const [subject, ...peers] = running;
    const { pairs, warmUpSeconds } = options;
    const onRun = (what: string) => progress.show(what);
    for (const name of OPERATIONS.filter((operation) => options.only.includes(operation))) {
      report.operations.push(await compare(subject!, peers, name, { pairs, warmUpSeconds, driving, onRun }));
      progress.next();
    }
    if (options.only.includes('fairness')) {
      for (const contender of running) {
        progress.show(`one client keeps ${contender.title} busy`);
        report.fairness.push(await waitBesideBusyClient(contender, driving));
      }
      progress.next();
    }
  });
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

async function temporaryFolder(cleanUp: CleanUp): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'petstore-bench-'));
  cleanUp.add(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  // PostgreSQL runs as another account where this is run by root.
  await chmod(folder, 0o755);
  return folder;
}

async function startRedis(cleanUp: CleanUp): Promise<string> {
  if (findOnPath('redis-server') === undefined) {
    throw new Error('redis-server is not on the PATH: install it, or leave redis out with --only.');
  }
  const redis = await RedisServer.start();
  cleanUp.add(() => redis.close());
  return redis.url;
}
