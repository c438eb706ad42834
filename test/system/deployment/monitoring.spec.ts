import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { createTestDatabase, type TestDatabase } from '../../support/test-database';
import { petstoreJson } from '../../support/command-line';
import { freePort } from '../../support/redis-server';
import { ServiceBench, until } from '../../support/service-process';
import { dashboard, expressions, rules, selectorsOf } from './support/expressions';
import { ROOT, readYaml } from '../../support/files';
import { PROMTOOL, findProgram } from '../../support/programs';

/** Labels that Prometheus gives to whatever it scrapes. */
const OF_THE_SCRAPE = ['instance', 'job'];
/** Metrics of Prometheus itself, and of the exporters of the compose file. */
const OF_OTHERS = ['up', 'pg_up', 'redis_up', 'haproxy_frontend_http_responses_total'];

/** Names and labels of everything that a running service has told, once all kinds of it have happened. */
const exposed = new Map<string, Set<string>>();
/** What was scraped last. */
let page = '';
const recorded = rules.flatMap(({ record }) => record ?? []);

async function scrape(url: string): Promise<void> {
  page = await (await fetch(url)).text();
  for (const [, name = '', labels = ''] of page.matchAll(/^(\w+)(?:\{(.*)\})? \S+$/gm)) {
    const known = exposed.get(name) ?? new Set();
    [...labels.matchAll(/(\w+)="/g)].forEach(([, label = '']) => known.add(label));
    exposed.set(name, known);
  }
}

function unknownIn(expression: string): string[] {
  return selectorsOf(expression).flatMap(({ name, labels }) => {
    const known = exposed.get(name);
    if (OF_OTHERS.includes(name) || recorded.includes(name)) {
      return [];
    }
    const strange = labels.filter((label) => !OF_THE_SCRAPE.includes(label) && !known?.has(label));
    return known === undefined ? [name] : strange.map((label) => `${name}{${label}}`);
  });
}

describe('Dashboard and alerts', () => {
  const bench = new ServiceBench();
  let database: TestDatabase;

  beforeAll(async () => {
    database = await createTestDatabase();
    const port = await freePort();
    const environment = { DATABASE_URL: database.url, METRICS_PORT: String(port) };
    const service = await bench.serve(environment);
    const { key } = await petstoreJson<{ key: string }>(['db', 'seed'], environment);
    expect((await fetch(`${service.url}/pets`, { headers: { 'X-API-Key': key } })).status).toBe(200);
    const url = `http://127.0.0.1:${port}/metrics`;
    // An answer is counted a moment after it is sent.
    await until(async () => {
      await scrape(url);
      return exposed.get('petstore_http_request_duration_seconds_count')?.has('operation') === true;
    });
  });

  afterAll(async () => {
    await bench.clear();
    await database.drop();
  });

  it('use only metrics and labels that the service exports, in valid PromQL', () => {
    expect(expressions.length).toBeGreaterThan(30);
    expect(expressions.flatMap(unknownIn)).toEqual([]);
  });

  it('read metrics whose names follow the rules of Prometheus', () => {
    const { stderr } = spawnSync(findProgram(PROMTOOL)!, ['check', 'metrics'], {
      input: page,
      encoding: 'utf8',
    });
    expect(stderr.split('\n').filter((line) => line.startsWith('petstore_'))).toEqual([]);
  });

  it('use every metric of the service', () => {
    const asked = new Set(expressions.flatMap(selectorsOf).map(({ name }) => name.replace(/_bucket$/, '')));
    const ours = [...exposed.keys()]
      .filter((name) => name.startsWith('petstore_') && !/_(sum|count)$/.test(name))
      .map((name) => name.replace(/_bucket$/, ''));
    expect(new Set(ours.filter((name) => !asked.has(name)))).toEqual(new Set());
  });
});

it('Each alert says what is wrong, what to check, and whether it is urgent', () => {
  for (const { alert, labels, annotations } of rules.filter((rule) => rule.alert)) {
    expect([alert, labels?.severity]).toEqual([alert, expect.stringMatching(/^(page|ticket)$/)]);
    expect([alert, Object.keys(annotations ?? {})]).toEqual([alert, ['summary', 'description']]);
  }
  const names = rules.map(({ alert, record }) => alert ?? record);
  expect(new Set(names).size).toBe(names.length);
});

it('Every recording rule is used', () => {
  const asked = new Set(rules.flatMap(({ expr }) => selectorsOf(expr)).map(({ name }) => name));
  expect(recorded.filter((name) => !asked.has(name))).toEqual([]);
});

it('Panels have unique numbers, do not overlap, and have titles', () => {
  const { panels } = dashboard;
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  expect(panels.filter(({ title }) => !title)).toEqual([]);
  const overlaps = panels.flatMap(({ title, gridPos: one }, index) =>
    panels.slice(index + 1).flatMap(({ title: other, gridPos: two }) => {
      const beside = one.x + one.w <= two.x || two.x + two.w <= one.x;
      const above = one.y + one.h <= two.y || two.y + two.h <= one.y;
      return beside || above ? [] : [`${title} and ${other}`];
    }),
  );
  expect(overlaps).toEqual([]);
});

interface Scraped {
  job_name?: string;
  static_configs: { targets: string[] }[];
}

interface PrometheusFile {
  scrape_configs: Scraped[];
  alerting: { alertmanagers: Scraped[] };
}

const promtool = (...args: string[]) =>
  spawnSync(findProgram(PROMTOOL)!, args, { cwd: join(ROOT, 'docker/prometheus'), encoding: 'utf8' });

it('The alerts fire as their scenarios say: a total outage pages, a quiet night does not', () => {
  const { status, stdout, stderr } = promtool('test', 'rules', 'alerts.test.yaml');
  expect([status, stderr]).toEqual([0, expect.not.stringContaining('FAILED')]);
  expect(stdout).toContain('SUCCESS');
});

it('Prometheus accepts its configuration, scrapes containers of the compose file, and alerts its Alertmanager', () => {
  expect(promtool('check', 'config', 'prometheus.yaml')).toMatchObject({ status: 0 });
  const [{ scrape_configs: scrapes, alerting }] = readYaml<PrometheusFile>(
    'docker/prometheus/prometheus.yaml',
  ) as [PrometheusFile];
  const [{ services }] = readYaml<{ services: object }>('docker/compose.yaml') as [{ services: object }];
  const targets = (scraped: Scraped[]) =>
    scraped.flatMap(({ static_configs: configs }) => configs.flatMap((config) => config.targets));
  const names = [...targets(scrapes), ...targets(alerting.alertmanagers)].map(
    (target) => target.split(':')[0]!,
  );
  expect(Object.keys(services)).toEqual(expect.arrayContaining(names));
  expect(scrapes[0]).toMatchObject({
    job_name: 'petstore',
    static_configs: [
      {
        targets: Object.keys(services)
          .filter((name) => name.startsWith('store-'))
          .map((name) => `${name}:9464`),
      },
    ],
  });
});
