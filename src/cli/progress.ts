import type { Options, Params } from 'cli-progress';

/** How far the work is. */
export interface Step {
  done: number;
  /** Absent when nobody knows yet. */
  total: number | undefined;
  /** Absent where there are none: a backup has only bytes. */
  lines?: number;
}

/** What is counted beside the lines themselves. */
export type Unit = 'bytes' | 'lines' | 'rows';

const MEGABYTE = 1_000_000;

/**
 * Shows on a terminal how far the work is, as long as it takes. It is drawn without colours, and cleared away in the end.
 * @param stream where it is shown; nothing is, unless that is a terminal
 */
export async function withProgress<Result>(
  { title, unit, stream }: { title: string; unit: Unit; stream: NodeJS.WriteStream | undefined },
  work: (show: (step: Step) => void) => Promise<Result>,
): Promise<Result> {
  if (!stream?.isTTY) {
    return work(() => undefined);
  }
  // A CommonJS package: all of it is there as the default export, and only some of it under its names.
  const { SingleBar, Format } = (await import('cli-progress')).default;
  const bar = new SingleBar({
    stream,
    barsize: 20,
    etaBuffer: 50,
    clearOnComplete: true,
    format: (options, params, { lines }: Step) => {
      const ending = params.total > 0 ? shareOf(options, params, unit, Format) : '';
      return `${title} ${ending}${lines === undefined ? '' : countOf(lines, params.startTime, unit)}`;
    },
  });
  bar.start(0, 0, {});
  try {
    return await work((step) => {
      bar.setTotal(step.total ?? 0);
      bar.update(step.done, { lines: step.lines });
    });
  } finally {
    bar.stop();
  }
}

function shareOf(
  options: Options,
  { progress, eta, value, total }: Params,
  unit: Unit,
  { BarFormat, TimeFormat }: (typeof import('cli-progress'))['Format'],
): string {
  if (progress >= 1) {
    return 'all read, saving  ';
  }
  // Until enough was seen to tell, it is a word and no number.
  const left = Number.isFinite(Number(eta)) ? `ETA ${TimeFormat(eta, options, 1)}  ` : '';
  const bytes = unit === 'bytes' ? `${megabytes(value)} of ${megabytes(total)} MB  ` : '';
  const bar = BarFormat(progress, options);
  return `[${bar}] ${Math.floor(progress * 100)}%  ${left}${bytes}`;
}

function countOf(lines: number, startTime: number, unit: Unit): string {
  const noun = unit === 'rows' ? unit : 'lines';
  return `${grouped(lines)} ${noun}  ${rateOf(lines, startTime)} ${noun}/s`;
}

function megabytes(bytes: number): string {
  return (bytes / MEGABYTE).toFixed(1);
}

function rateOf(lines: number, startTime: number): string {
  const seconds = (Date.now() - startTime) / 1_000;
  return grouped(seconds > 0 ? Math.round(lines / seconds) : 0);
}

function grouped(count: number): string {
  return count.toLocaleString('en-US');
}
