// Messages between worker processes and the primary process, which counts for them. A message has many steps.
import type { Standing, Receipt, Taken } from '../counting/quota-store';
import type { Subject } from '../counting/subject';

/** The methods of a QuotaStore, by name, with their arguments. */
export type QuotaStep =
  | ['take', Subject]
  | ['refund', Subject, Receipt]
  | ['look', Subject]
  | ['reloadBans', number | undefined]
  | ['reloadResets', number | undefined]
  | ['reloadDays']
  | ['flush'];

/** A result, or why the method failed; `unavailable` if the database was. */
export type QuotaReply =
  | { result: Taken | Standing | boolean | undefined }
  | { failure: string; unavailable: boolean };

export interface QuotaQuestion {
  quotaSteps: { id: number; step: QuotaStep }[];
}

export interface QuotaAnswer {
  quotaReplies: { id: number; reply: QuotaReply }[];
}

/** One end of the channel between a worker and the primary process: `process` or a `Worker`. */
export interface Channel {
  send?(message: object, handle: undefined, options: undefined, sent: (error: Error | null) => void): boolean;
  on(event: 'message', listener: (message: object) => void): unknown;
}

/** Sends a message; ignores a closed channel. */
export function send(channel: Channel, message: QuotaQuestion | QuotaAnswer): void {
  channel.send?.(message, undefined, undefined, () => undefined);
}
