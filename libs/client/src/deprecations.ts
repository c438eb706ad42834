import { readLinks } from './header-fields.ts';

/** A call of a deprecated operation. */
export interface DeprecationNotice {
  /** Method and path of the document: `GET /pets/{petId}`. */
  operation: string;
  /** When it was deprecated (RFC 9745). */
  since?: Date;
  /** From when it may be removed (RFC 8594). */
  sunset?: Date;
  /** Its replacement, from the `Link` with `rel="successor-version"` (RFC 5829). */
  successor?: string;
}

/** Reports each deprecated operation once per client. */
export class Deprecations {
  private readonly reported = new Set<string>();

  constructor(private readonly report: (notice: DeprecationNotice) => void) {}

  notice(operation: string, headers: Headers): void {
    if (headers.has('deprecation') && !this.reported.has(operation)) {
      this.reported.add(operation);
      this.report(readNotice(operation, headers));
    }
  }
}

function readNotice(operation: string, headers: Headers): DeprecationNotice {
  const since = /^@(\d{1,12})$/.exec(headers.get('deprecation') ?? '')?.[1];
  const sunset = new Date(headers.get('sunset') ?? NaN);
  return {
    operation,
    since: since === undefined ? undefined : new Date(Number(since) * 1_000),
    sunset: Number.isNaN(sunset.getTime()) ? undefined : sunset,
    successor: readLinks(headers).get('successor-version'),
  };
}

/** Issues a deprecation warning of the process, or logs to the console where there is no process. */
export function warnOfDeprecation({ operation, sunset, successor }: DeprecationNotice): void {
  const end = sunset === undefined ? '' : ` and may be gone from ${sunset.toISOString().slice(0, 10)}`;
  const instead = successor === undefined ? '' : `; its successor is ${successor}`;
  const message = `Pet Store: ${operation} is deprecated${end}${instead}.`;
  const { process } = globalThis as { process?: { emitWarning?: typeof globalThis.process.emitWarning } };
  if (typeof process?.emitWarning === 'function') {
    process.emitWarning(message, { type: 'DeprecationWarning', code: 'PETSTORE_DEPRECATION' });
  } else {
    // oxlint-disable-next-line no-console -- A page has no other place for warnings.
    console.warn(message);
  }
}
