/** Who sends a request; the keys are made when the service runs. */
export type Sender =
  | 'owner'
  | 'owner as bearer'
  | 'reader'
  | 'spender'
  | 'nobody'
  | 'mistyped'
  | 'unknown'
  | 'two keys';

/** What the document and the rules say of a part: it is in order, it is to be refused (4xx), or that depends on more than itself. */
export type Verdict = 'good' | 'bad' | 'either';

/** One request as it is sent, with what may come of it. Texts only, so that a failure prints what is needed to repeat it. */
export interface FuzzRequest {
  as: Sender;
  method: string;
  target: string;
  headers: Record<string, string>;
  body?: string;
  verdict: Verdict;
}

/** A part of a request as it is written, and what is to be thought of it. */
export interface Part<Written> {
  written: Written;
  verdict: Verdict;
}

/** A request is as bad as its worst part. */
export function worst(verdicts: Verdict[]): Verdict {
  return verdicts.includes('bad') ? 'bad' : verdicts.includes('either') ? 'either' : 'good';
}
