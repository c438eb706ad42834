import type { IncomingMessage, ServerResponse } from 'node:http';
import secureJson from 'secure-json-parse';
import type { ApiError } from './errors/api-error';
import { BadRequestError, MalformedJsonError, PayloadTooLargeError, ValidationFailedError } from './errors';

export const MAX_BODY_BYTES = 64 * 1024;

/** Bodies that will not arrive completely, by the reason why. */
const lost = new WeakMap<IncomingMessage, ApiError>();
const BODY_LOST = Symbol('body lost');

/** Makes every read of this body fail, now or later, because the rest of it will not arrive. */
export function loseBody(request: IncomingMessage, reason: ApiError): void {
  lost.set(request, reason);
  request.emit(BODY_LOST, reason);
}

/**
 * Reads the whole body of a request, and invites the caller to send it (`100 Continue`) if it waits for that.
 * @throws ApiError 413 above MAX_BODY_BYTES (Node discards the rest when the response is sent), 400 or 408 if the body
 * is incomplete.
 */
export function readBody(request: IncomingMessage, response: ServerResponse): Promise<Buffer> {
  if (Number(request.headers['content-length']) > MAX_BODY_BYTES) {
    return Promise.reject(new PayloadTooLargeError(MAX_BODY_BYTES));
  }
  if (expectsContinue(request)) {
    response.writeContinue();
  }
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const stop = (error: ApiError) => {
      request.removeAllListeners('data');
      // Without a consumer the stream would stay paused and the connection unusable for the next request.
      request.resume();
      reject(error);
    };
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > MAX_BODY_BYTES) {
        stop(new PayloadTooLargeError(MAX_BODY_BYTES));
      } else {
        chunks.push(chunk);
      }
    });
    request.once('end', () => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)));
    // The caller has disconnected. Nobody reads the response, but the log should not show a failure of the service.
    const gone = () => stop(new BadRequestError('The request ended before its body did.'));
    request.once('error', gone);
    request.once(BODY_LOST, stop);
    if (lost.has(request)) {
      stop(lost.get(request)!);
    } else if (request.destroyed) {
      gone();
    }
  });
}

function expectsContinue({ headers, httpVersionMinor }: IncomingMessage): boolean {
  return httpVersionMinor > 0 && /(?:^|\W)100-continue(?:$|\W)/i.test(headers.expect ?? '');
}

// The parser ignores one byte order mark, as RFC 8259 (section 8.1) lets it; the decoder would ignore another.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Parses JSON text (RFC 8259).
 * @throws ApiError 400 `malformed_json` if it is not JSON in UTF-8, and `validation_failed` for members that could change
 * an object's prototype; no operation has such members.
 */
export function parseJson(body: Buffer): unknown {
  let text: string;
  try {
    text = utf8.decode(body);
  } catch {
    throw new MalformedJsonError('it is not UTF-8');
  }
  try {
    return secureJson.parse(text, undefined, { protoAction: 'error', constructorAction: 'error' });
  } catch (error) {
    if ((error as Error).message.includes('forbidden prototype property')) {
      throw new ValidationFailedError('__proto__ and constructor are not fields of the body.');
    }
    throw new MalformedJsonError('it ends too early or has an unexpected character');
  }
}
