import { createTestDatabase, type TestDatabase } from '../../support/test-database';
import { petstoreJson } from '../../support/command-line';
import { freePort } from '../../support/redis-server';
import { ServiceBench, until } from '../../support/service-process';
import { dashboard, expressions, rules, selectorsOf } from './support/expressions';
import { readYaml } from '../../support/files';

/** Labels that Prometheus gives to whatever it scrapes. */
const OF_THE_SCRAPE = ['instance', 'job'];
/** Metrics that Prometheus makes up itself. */
const OF_PROMETHEUS = ['up'];

/** Names and labels of everything that a running service has told, once all kinds of it have happened. */
const exposed = new Map<string, Set<string>>();
const recorded = rules.flatMap(({ record }) => record ?? []);

async function scrape(url: string): Promise<void> {
  const text = await (await fetch(url)).text();
  for (const [, name = '', labels = ''] of text.matchAll(/^(\w+)(?:\{(.*)\})? \S+$/gm)) {
    const known = exposed.get(name) ?? new Set();
    [...labels.matchAll(/(\w+)="/g)].forEach(([, label = '']) => known.add(label));
    exposed.set(name, known);
  }
}

function unknownIn(expression: string): string[] {
  return selectorsOf(expression).flatMap(({ name, labels }) => {
    const known = exposed.get(name);
    if (OF_PROMETHEUS.includes(name) || recorded.includes(name)) {
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
    const headers = { 'X-API-Key': key, 'Content-Type': 'application/json', 'Idempotency-Key': 'once' };
    for (const _time of ['first', 'again']) {
      const create = { method: 'POST', headers, body: '{"name": "Fish"}' };
      expect((await fetch(`${service.url}/categories`, create)).status).toBe(201);
    }
    const url = `http://127.0.0.1:${port}/metrics`;
    // An answer is counted a moment after it is sent.
    await until(async () => {
      await scrape(url);
      return exposed.get('petstore_idempotent_replays_total')?.has('operation') === true;
    }, 10_000);
  });

  afterAll(async () => {
    await bench.clear();
    await database.drop();
  });

  it('use only metrics and labels that the service exports, in valid PromQL', () => {
    expect(expressions.length).toBeGreaterThan(40);
    expect(expressions.flatMap(unknownIn)).toEqual([]);
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

it('Prometheus scrapes all instances of the compose file, and loads the rules', () => {
  const [{ rule_files: files, scrape_configs: scrapes }] = readYaml<{
    rule_files: string[];
    scrape_configs: { job_name: string; static_configs: { targets: string[] }[] }[];
  }>('docker/prometheus/prometheus.yaml') as [never];
  const [compose] = readYaml<{ services: object }>('docker/compose.yaml') as [{ services: object }];
  const instances = Object.keys(compose.services).filter((name) => name.startsWith('store-'));
  expect([files, scrapes]).toEqual([
    ['alerts.yaml'],
    [{ job_name: 'petstore', static_configs: [{ targets: instances.map((name) => `${name}:9464`) }] }],
  ]);
});
