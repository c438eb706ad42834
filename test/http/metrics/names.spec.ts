import { MetricsService } from '../../../src/runtime/metrics';
import { useService } from '../../support/use-service';
import { type Family, familiesOf, samplesOf } from './support/exposition';

const service = useService({ settings: { metrics: { host: '127.0.0.1', port: 0 } } });

/** Units in which nothing is to be told, because they are not the base of their kind. */
const NO_BASE_UNIT =
  /_(ms|milliseconds|microseconds|minutes|hours|days|kilobytes|kb|megabytes|mb|percent|percentage)(_|$)/;
/** What the format adds itself. */
const RESERVED = /_(count|sum|bucket|info)$/;

/** The rules of Prometheus's "Metric and label naming" and of its linter that a name breaks. */
function faultsOf({ name, type, help }: Family): string[] {
  const rules: [string, boolean][] = [
    ['is in snake case', /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/.test(name)],
    ['has a help text, which is a sentence', /^[A-Z].*\.$/.test(help)],
    ['ends in _total if, and only if, it is a counter', name.endsWith('_total') === (type === 'counter')],
    ['uses base units', !NO_BASE_UNIT.test(name)],
    ['avoids suffixes reserved by the format', !RESERVED.test(name)],
    ['does not name its type', !/_(counter|gauge|histogram|summary)(_|$)/.test(name)],
    ['names the unit of a histogram', type !== 'histogram' || /_(seconds|bytes)$/.test(name)],
  ];
  return rules.filter(([, kept]) => !kept).map(([rule]) => `${name} ${rule}`);
}

async function page(): Promise<string> {
  return service.app.get(MetricsService).text();
}

describe('The names of our own metrics', () => {
  it('follow the rules of Prometheus', async () => {
    const own = familiesOf(await page()).filter(({ name }) => name.startsWith('petstore_'));
    expect(own.length).toBeGreaterThan(10);
    expect(own.flatMap(faultsOf)).toEqual([]);
  });

  it('have labels in snake case that do not repeat a metric', async () => {
    const labels = samplesOf(await page()).flatMap((sample) => Object.keys(sample.labels));
    expect(labels.filter((label) => !/^[a-z]+(_[a-z]+)*$/.test(label))).toEqual([]);
  });

  it('leave standard process and runtime names to the libraries', async () => {
    const names = familiesOf(await page()).map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining(['process_cpu_seconds_total', 'nodejs_eventloop_lag_seconds']),
    );
    expect(names.filter((name) => !/^(petstore|process|nodejs)_/.test(name))).toEqual([]);
  });
});

test.each<[string, string, string]>([
  ['petstore_requests', 'counter', 'Requests.'],
  ['petstore_connections_total', 'gauge', 'Connections.'],
  ['petstore_lag_ms', 'gauge', 'Lag.'],
  ['petstore_requestDuration_seconds', 'histogram', 'Duration.'],
  ['petstore_duration', 'histogram', 'Duration.'],
  ['petstore_queue_gauge', 'gauge', 'Queue.'],
  ['petstore_sizes_count', 'gauge', 'Sizes.'],
  ['petstore_size_bytes', 'gauge', ''],
])('The rules catch %s, a %s', (name, type, help) => {
  expect(faultsOf({ name, type, help })).toHaveLength(1);
});
