/** The body of every error response: exactly these three members. */
export interface ErrorBody {
  code: string;
  message: string;
  status: number;
}

/**
 * A failure that is reported to the caller: its machine-readable code, its HTTP status and a message for people. It is
 * a response, not a defect, and has no stack trace, which would cost as much as the rest of a refused request.
 */
export class ApiError extends Error {
  constructor(
    readonly code: string,
    readonly status: number,
    message: string,
    /** Header fields of this failure, such as `Retry-After` or `Allow`. */
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message);
    Error.stackTraceLimit = stackTraceLimit;
    this.name = new.target.name;
  }

  toBody(): ErrorBody {
    return { code: this.code, message: this.message, status: this.status };
  }
}
