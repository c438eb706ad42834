import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RedisServer } from '../support/redis-server';
import { growWithClients } from './clients';
import { contender } from './contenders';
import { type CleanUp, withCleanUp } from './harness/clean-up';
import { Databases } from './harness/databases';
import { loadTool } from './harness/load';
import type { Driving } from './harness/measured-run';
import { type Comparison, compare } from './harness/pairs';
import { RUN, findOnPath, output } from './harness/program';
import { Progress } from './harness/progress';
import { type Surroundings, startContender } from './harness/start-contender';
import type { LimiterFigures } from './limiter';
import { type Match, matchesOf } from './matches';
import type { Options } from './options';
import { type Report, newReport } from './report';
import { soak } from './soak';

const CONNECTIONS = 32;

/** Runs everything that the options ask for. Whatever it starts has ended when it returns, or throws because of the signal. */
export async function runAll(options: Options, signal: AbortSignal): Promise<Report> {
  const report = newReport(options, CONNECTIONS);
  const matches = matchesOf(options);
  const { only } = options;
  const comparisons = matches.reduce((sum, { workloads }) => sum + workloads.length, 0);
  const alone = only.filter((part) => part === 'limiter' || part === 'clients' || part === 'soak').length;
  const progress = new Progress(comparisons + alone);
  try {
    if (only.includes('limiter')) {
      progress.show('the limiter alone');
      report.limiter = await measureLimiter(signal);
      progress.next();
    }
    if (comparisons > 0 || only.includes('clients') || only.includes('soak')) {
      await withCleanUp((cleanUp) => runServers(matches, options, progress, report, cleanUp, signal));
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
  matches: Match[],
  options: Options,
  progress: Progress,
  report: Report,
  cleanUp: CleanUp,
  signal: AbortSignal,
): Promise<void> {
  const { only, logLevel, manyPets, seconds } = options;
  const folder = await temporaryFolder(cleanUp);
  const needsRedis = matches.some(({ subject }) => contender(subject).needsRedis);
  const redisUrl = needsRedis ? await startRedis(cleanUp) : undefined;
  progress.show('preparing the databases');
  const databases = await Databases.start(join(folder, 'postgres'), cleanUp, signal);
  const surroundings = { folder, databases, redisUrl, logLevel, manyPets, signal };
  const tool = await loadTool(options.tool);
  const driving = { tool, connections: CONNECTIONS, seconds, folder, signal };
  for (const match of matches) {
    report.comparisons.push(...(await runMatch(match, surroundings, options, driving, progress)));
  }
  if (only.includes('clients')) {
    progress.show(`${options.clients} clients`);
    report.clients = await growWithClients(options.clients, surroundings, CONNECTIONS);
    progress.next();
  }
  if (only.includes('soak')) {
    progress.show(`${options.soakMinutes} minutes of orders and reads`);
    report.soak = await soak(options.soakMinutes, surroundings, driving);
  }
}

/** Both begin with fresh databases in fresh processes, so that none has done more work before than the other. */
function runMatch(
  { subject, peer, workloads }: Match,
  surroundings: Surroundings,
  { pairs, warmUpSeconds }: Options,
  driving: Driving,
  progress: Progress,
): Promise<Comparison[]> {
  return withCleanUp(async (cleanUp) => {
    progress.show(`starting ${subject} and ${peer}`);
    const one = await startContender(contender(subject), surroundings, cleanUp);
    const other = await startContender(contender(peer), surroundings, cleanUp);
    const comparisons: Comparison[] = [];
    for (const name of workloads) {
      const onRun = (what: string) => progress.show(what);
      comparisons.push(await compare(one, other, name, { pairs, warmUpSeconds, driving, onRun }));
      progress.next();
    }
    return comparisons;
  });
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
