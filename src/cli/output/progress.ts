import type { Options, Params } from 'cli-progress';

export interface Step {
  done: number;
  /** Undefined while unknown. */
  total: number | undefined;
  /** Of what is counted. */
  count: number;
}

/**
 * Shows a progress bar while the work runs, and clears it afterwards.
 * @param noun what is counted
 * @param stream must be a terminal; otherwise nothing is shown
 */
export async function withProgress<Result>(
  { title, noun, stream }: { title: string; noun: 'lines' | 'rows'; stream: NodeJS.WriteStream | undefined },
  work: (show: (step: Step) => void) => Promise<Result>,
): Promise<Result> {
  if (!stream?.isTTY) {
    return work(() => undefined);
  }
  // A CommonJS package: only the default export has everything.
  const { SingleBar, Format } = (await import('cli-progress')).default;
  const shareOf = (options: Options, { progress, eta }: Params) => {
    // The ETA is no number until there is enough data.
    const left = Number.isFinite(Number(eta)) ? `ETA ${Format.TimeFormat(eta, options, 1)}  ` : '';
    const bar = `[${Format.BarFormat(progress, options)}] ${Math.floor(progress * 100)}%  ${left}`;
    return progress >= 1 ? 'all read, saving  ' : bar;
  };
  const bar = new SingleBar({
    stream,
    barsize: 20,
    etaBuffer: 50,
    clearOnComplete: true,
    format: (options, params, { count = 0 }: Partial<Step>) => {
      const share = params.total > 0 ? shareOf(options, params) : '';
      return `${title} ${share}${count.toLocaleString('en-US')} ${noun}`;
    },
  });
  bar.start(0, 0, {});
  try {
    return await work(({ done, total = 0, count }) => {
      bar.setTotal(total);
      bar.update(done, { count });
    });
  } finally {
    bar.stop();
  }
}
