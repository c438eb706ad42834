import { defineError } from '../errors/define-error';

/** The announced removal of an operation. */
export interface Deprecation {
  /** Day since which the operation is deprecated, `YYYY-MM-DD` (UTC). */
  since: string;
  /** Day from which it may be removed, `YYYY-MM-DD` (UTC). */
  sunset: string;
  /** Where the deprecation is explained. */
  documentation: string;
  /** The replacement's target; `{name}` stands for the path parameter of that name. */
  successor: string;
}

/** Valid parameters are shorter. A longer one must not fill a header field. */
const MAX_ECHOED = 64;

function instantOf(day: string): Date {
  return new Date(`${day}T00:00:00Z`);
}

export function isSunset(deprecation: Deprecation, now: number): boolean {
  return now >= instantOf(deprecation.sunset).getTime();
}

/**
 * The header fields of every response of a deprecated operation: `Deprecation` (RFC 9745: a structured-field date),
 * `Sunset` (RFC 8594: an HTTP date) and `Link` with the relations `deprecation` (RFC 9745) and `successor-version` (RFC
 * 5829).
 * @returns a function that makes them from a request's path parameters
 */
export function announcementOf(
  deprecation: Deprecation,
): (parameters: Readonly<Record<string, string>>) => Record<string, string> {
  const since = `@${instantOf(deprecation.since).getTime() / 1000}`;
  const sunset = instantOf(deprecation.sunset).toUTCString();
  const explained = `<${deprecation.documentation}>; rel="deprecation"; type="text/html"`;
  // Alternately text and parameter names.
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
  // A decoded parameter may contain an unpaired surrogate, which encodeURIComponent would reject.
  return encodeURIComponent(parameter.slice(0, MAX_ECHOED).toWellFormed());
}

export const OperationGoneError = defineError({
  code: 'operation_gone',
  status: 410,
  when: 'The operation was deprecated and its sunset has passed. `Link` names its successor.',
  message: () => 'This operation is gone. The Link header names its successor.',
  example: [],
});
