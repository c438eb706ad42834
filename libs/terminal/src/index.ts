/** What is known of the place that a program prints to. */
export interface Terminal {
  /** Columns to fit into; absent where nothing is to be cut: in a pipe, or when the terminal does not tell. */
  columns: number | undefined;
  colours: boolean;
}

/** Colours are for terminals only, and for nobody who has said no to them (https://no-color.org). */
export function terminalOf(
  stream: { isTTY?: boolean; columns?: number },
  environment: Readonly<Record<string, string | undefined>>,
): Terminal {
  if (!stream.isTTY) {
    return { columns: undefined, colours: false };
  }
  return {
    // A terminal that does not know its width tells 0.
    columns: stream.columns === 0 ? undefined : stream.columns,
    colours: !environment.NO_COLOR && environment.TERM !== 'dumb',
  };
}
