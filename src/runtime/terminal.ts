/** The capabilities of the stream that a program prints to. */
export interface Terminal {
  /** The width in columns; undefined in a pipe, or if the terminal does not report it. */
  columns: number | undefined;
  colours: boolean;
}

/** Colours are used only on terminals, and not if NO_COLOR is set (https://no-color.org). */
export function terminalOf(
  stream: { isTTY?: boolean; columns?: number },
  environment: Readonly<Record<string, string | undefined>>,
): Terminal {
  if (!stream.isTTY) {
    return { columns: undefined, colours: false };
  }
  return {
    // A terminal of unknown width reports 0.
    columns: stream.columns === 0 ? undefined : stream.columns,
    colours: !environment.NO_COLOR && environment.TERM !== 'dumb',
  };
}
