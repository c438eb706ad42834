export interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

/** What a page of metrics says of a name besides its values. */
export interface Family {
  name: string;
  type: string;
  help: string;
}

/** The values of a page in Prometheus's text format. */
export function samplesOf(text: string): Sample[] {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return lines.map((line) => {
    const [, name = '', labels = '', value = ''] = /^([^{ ]+)(?:\{(.*)\})? (\S+)$/.exec(line)!;
    const pairs = [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, key, text]) => [key!, text!]);
    return { name, labels: Object.fromEntries(pairs) as Sample['labels'], value: Number(value) };
  });
}

/** The names that a page explains. */
export function familiesOf(text: string): Family[] {
  return [...text.matchAll(/^# HELP (\S+) (.*)\n# TYPE \1 (\w+)$/gm)].map(([, name, help, type]) => ({
    name: name!,
    help: help!,
    type: type!,
  }));
}

/** The sum of all values of this name that have these labels; 0 when there are none. */
export function valueOf(samples: Sample[], name: string, labels: Sample['labels'] = {}): number {
  return samples
    .filter((sample) => sample.name === name)
    .filter((sample) => Object.entries(labels).every(([label, value]) => sample.labels[label] === value))
    .reduce((sum, { value }) => sum + value, 0);
}
