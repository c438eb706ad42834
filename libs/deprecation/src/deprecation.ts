import { defineError } from '#libs/errors';

/** The announced end of an operation. */
export interface Deprecation {
  /** Day since which the operation is deprecated, `YYYY-MM-DD` (UTC). */
  since: string;
  /** Day from which it may be gone, `YYYY-MM-DD` (UTC). */
  sunset: string;
  /** Where the deprecation is explained. */
  documentation: string;
  /** The target that serves instead; `{name}` is replaced by the path parameter of that name. */
  successor: string;
}

/** No operation takes a longer parameter, and it must not fill a header field. */
const MAX_ECHOED = 64;

function instantOf(day: string): Date {
  return new Date(`${day}T00:00:00Z`);
}

export function isSunset(deprecation: Deprecation, now: number): boolean {
  return now >= instantOf(deprecation.sunset).getTime();
}

/**
 * The header fields of every answer of a deprecated operation: `Deprecation` (RFC 9745: a structured-field date), `Sunset`
 * (RFC 8594: an HTTP date) and `Link` with the relations `deprecation` (RFC 9745) and `successor-version` (RFC 5829).
 * @returns what makes them from a request's path parameters, as text
 */
export function announcementOf(
  deprecation: Deprecation,
): (parameters: Readonly<Record<string, string>>) => Record<string, string> {
  const since = `@${instantOf(deprecation.since).getTime() / 1000}`;
  const sunset = instantOf(deprecation.sunset).toUTCString();
  const explained = `<${deprecation.documentation}>; rel="deprecation"; type="text/html"`;
  // Text and names of parameters in turn.
  const parts = deprecation.successor.split(/\{(\w+)\}/);
  return (parameters) => {
    const successor = parts
      .map((part, index) => (index % 2 === 0 ? part : echoed(parameters[part])))
      .join('');
    return {
      Deprecation: since,
      Sunset: sunset,
      Link: `${explained}, <${successor}>; rel="successor-version"`,
    };
  };
}

function echoed(parameter = ''): string {
  // What a router has decoded may be an unpaired surrogate, at which encoding would throw.
  return encodeURIComponent(parameter.slice(0, MAX_ECHOED).toWellFormed());
}

export const OperationGoneError = defineError({
  code: 'operation_gone',
  status: 410,
  when: 'The operation was deprecated and its sunset has passed. `Link` names its successor.',
  message: () => 'This operation is gone. The Link header names its successor.',
  example: [],
});
