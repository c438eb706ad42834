// How old a standby is, told without clocks of two machines: by how far the primary's log was at which moment of ours.

/**
 * A position in the write-ahead log as a number. Source: PostgreSQL's manual, "pg_lsn Type".
 * @param lsn two hexadecimal numbers of up to 8 digits, `16/B374D848`
 */
export function walPosition(lsn: string): bigint {
  const [high = '', low = ''] = lsn.split('/');
  return (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`);
}

/**
 * A position to insert at may stand behind the header of a page whose first record is still to come; the end of the last
 * record is then before that header. Every record is longer. Source: PostgreSQL, `SizeOfXLogShortPHD`.
 */
const PAGE_HEADER_BYTES = 24n;

/** Lags are measured up to this; what is older counts as older still. */
const KEPT_MS = 60_000;

interface Sample {
  at: number;
  position: bigint;
}

/** How far the primary had written its log at moments of the last minute. */
export class WalHistory {
  private samples: Sample[] = [];

  /**
   * @param at monotonic milliseconds, of a moment before the primary was asked; later than those of earlier calls
   * @param position where the primary was about to insert when it answered: all that was committed by `at` lies before it
   */
  add(at: number, position: bigint): void {
    this.samples = this.samples.filter((sample) => sample.at > at - KEPT_MS);
    this.samples.push({ at, position });
  }

  /** Forgets everything: it was of another database. */
  clear(): void {
    this.samples = [];
  }

  /**
   * The latest moment of which a standby that has replayed the log up to this position knows every commit;
   * minus infinity when it is not known of any.
   */
  momentOf(replayed: bigint): number {
    const known = this.samples.findLast(({ position }) => position - replayed <= PAGE_HEADER_BYTES);
    return known?.at ?? -Infinity;
  }
}
