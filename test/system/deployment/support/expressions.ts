import { parser } from '@prometheus-io/lezer-promql';
import { read, readYaml } from '../../../support/files';

interface Panel {
  title: string;
  targets?: { expr: string }[];
}

interface Dashboard {
  panels: (Panel & { id: number; gridPos: { x: number; y: number; w: number; h: number } })[];
}

export interface Rule {
  alert?: string;
  record?: string;
  expr: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
}

export const dashboard = JSON.parse(read('docker/grafana/petstore.json')) as Dashboard;

export const rules: Rule[] = readYaml<{ groups: { rules: Rule[] }[] }>(
  'docker/prometheus/alerts.yaml',
).flatMap(({ groups }) => groups.flatMap((group) => group.rules));

/** Grafana puts a value in for these before Prometheus reads the expression. */
export const expressions: string[] = [
  ...rules.map(({ expr }) => expr),
  ...dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
].map((expression) => expression.replaceAll('$__rate_interval', '5m'));

/** A series that an expression asks for: its name, and the labels that it names. */
export interface Selector {
  name: string;
  labels: string[];
}

/**
 * What a PromQL expression asks for, by Prometheus's own grammar.
 * @throws Error at the place that the grammar does not know
 */
export function selectorsOf(expression: string): Selector[] {
  const selectors: Selector[] = [];
  parser.parse(expression).iterate({
    enter: ({ name, type, from, to }) => {
      if (type.isError) {
        throw new Error(`no PromQL at ${from}: ${expression}`);
      }
      if (name === 'VectorSelector') {
        const text = expression.slice(from, to);
        const labels = [...text.matchAll(/(\w+)\s*(?:=~|!~|!=|=)\s*"/g)];
        selectors.push({ name: /^[\w:]*/.exec(text)![0], labels: labels.map(([, label = '']) => label) });
      }
    },
  });
  return selectors;
}
