import { ApiError } from './api-error';

/** One entry of the error catalogue, for the documentation and the tests. */
export interface ErrorDefinition {
  readonly code: string;
  readonly status: number;
  /** When a caller gets this error; a sentence for the document. */
  readonly when: string;
  /** An example of the actual message. */
  readonly example: string;
  /** The header fields sent with that message. */
  readonly exampleHeaders: Readonly<Record<string, string>>;
}

interface ErrorTemplate<Details extends unknown[]> {
  code: string;
  status: number;
  when: string;
  message: (...details: Details) => string;
  headers?: (...details: Details) => Record<string, string>;
  /** Arguments for `message`, for the documented example. */
  example: Details;
}

export interface DefinedError<Details extends unknown[]> {
  new (...details: Details): ApiError;
  readonly definition: ErrorDefinition;
}

/** An error class made by `defineError`, whatever its arguments are. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- any constructor arguments are acceptable here
export type AnyDefinedError = DefinedError<any[]>;

const catalogue = new Map<string, ErrorDefinition>();

/**
 * Defines an error class and adds it to the catalogue, so that each code is defined in one place.
 * @throws Error if the catalogue already has the code
 */
export function defineError<Details extends unknown[]>(
  template: ErrorTemplate<Details>,
): DefinedError<Details> {
  const { code, status, when, message, headers } = template;
  if (catalogue.has(code)) {
    throw new Error(`The error code ${code} is defined twice.`);
  }
  const definition: ErrorDefinition = {
    code,
    status,
    when,
    example: message(...template.example),
    exampleHeaders: headers?.(...template.example) ?? {},
  };
  catalogue.set(code, definition);
  return class extends ApiError {
    static readonly definition = definition;

    constructor(...details: Details) {
      super(code, status, message(...details), headers?.(...details));
    }
  };
}

/** Every error defined so far, ordered by status and then by code. */
export function errorCatalogue(): ErrorDefinition[] {
  return [...catalogue.values()].sort((a, b) => a.status - b.status || a.code.localeCompare(b.code));
}
