import type { IncomingMessage } from 'node:http';
import secureJson from 'secure-json-parse';
import { MalformedJsonError, PayloadTooLargeError, ValidationFailedError } from './errors';

export const MAX_BODY_BYTES = 64 * 1024;

/**
 * Reads the whole body of a request.
 * @throws ApiError 413 past MAX_BODY_BYTES. What follows is left to Node, which drops it when the answer is sent.
 */
export function readBody(request: IncomingMessage): Promise<Buffer> {
  if (Number(request.headers['content-length']) > MAX_BODY_BYTES) {
    return Promise.reject(new PayloadTooLargeError(MAX_BODY_BYTES));
  }
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const stop = (error: Error) => {
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
    request.once('error', reject);
  });
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Parses JSON text (RFC 8259).
 * @throws ApiError 400 `malformed_json` for what is not JSON in UTF-8, and `validation_failed` for members that could
 * reach into an object's prototype, which no operation has.
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
    if (/forbidden prototype property/.test((error as Error).message)) {
      throw new ValidationFailedError('__proto__ and constructor are not fields of the body.');
    }
    throw new MalformedJsonError('it ends too early or has an unexpected character');
  }
}
