import type { Options, Params } from 'cli-progress';

/** Progress. */
export interface Step {
  done: number;
  /** Undefined while unknown. */
  total: number | undefined;
  /** Absent before the first step. */
  lines?: number;
}

/** The unit of `done` and `total`. */
export type Unit = 'bytes' | 'lines' | 'rows';

const MEGABYTE = 1_000_000;

/**
 * Shows a progress bar while the work runs, and clears it afterwards.
 * @param stream must be a terminal; otherwise nothing is shown
 */
export async function withProgress<Result>(
  { title, unit, stream }: { title: string; unit: Unit; stream: NodeJS.WriteStream | undefined },
  work: (show: (step: Step) => void) => Promise<Result>,
): Promise<Result> {
  if (!stream?.isTTY) {
    return work(() => undefined);
  }
  // A CommonJS package: only the default export has everything.
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
  // The ETA is no number until there is enough data.
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
