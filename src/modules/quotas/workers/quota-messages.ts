// What worker processes ask of the process that counts for them, and what it answers: many steps in one message.
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

/** What a method answered, or why it failed; `unavailable` when the database was away. */
export type QuotaReply =
  | { result: Taken | Standing | boolean | undefined }
  | { failure: string; unavailable: boolean };

export interface QuotaQuestion {
  quotaSteps: { id: number; step: QuotaStep }[];
}

export interface QuotaAnswer {
  quotaReplies: { id: number; reply: QuotaReply }[];
}

/** One end of the channel between a worker and the process that started it: `process`, or a `Worker`. */
export interface Channel {
  send?(message: object, handle: undefined, options: undefined, sent: (error: Error | null) => void): boolean;
  on(event: 'message', listener: (message: object) => void): unknown;
}

/** Sends a message; when the other end is gone there is nobody left to care. */
export function send(channel: Channel, message: QuotaQuestion | QuotaAnswer): void {
  channel.send?.(message, undefined, undefined, () => undefined);
}
