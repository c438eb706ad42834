import { type IncomingHttpHeaders, type IncomingMessage, METHODS, type ServerResponse } from 'node:http';
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import secureJson from 'secure-json-parse';
import {
  type ApiError,
  BadRequestError,
  MalformedJsonError,
  PayloadTooLargeError,
  UnsupportedMediaTypeError,
  ValidationFailedError,
} from './errors';
import { quoted } from './validation';

declare module 'fastify' {
  interface FastifyRequest {
    /** The body as it was sent; absent without one. */
    rawBody?: Buffer;
  }
}

const JSON_TYPES = ['application/json'];
const PATCH_TYPES = ['application/json', 'application/merge-patch+json'];

/**
 * Keeps Fastify from parsing bodies before the guards run. Otherwise the body of a caller without a key, or over the limit,
 * would be read first, and an error in its JSON would be reported instead.
 */
export function deferBodyParsing(fastify: FastifyInstance): void {
  // Fastify knows methods (QUERY) that the parser of an older Node rejects.
  for (const method of fastify.supportedMethods.filter((name) => METHODS.includes(name))) {
    fastify.addHttpMethod(method, { hasBody: false, overrideExisting: true });
  }
}

/**
 * Refuses a query or a body that the operation does not have, because no pipe would validate it. Reads the others: only
 * JSON, which it sets as `request.body` and `request.rawBody`. The last guard: it runs once the caller is admitted.
 */
@Injectable()
export class InputGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    assertDecodable(request.url);
    for (const name in request.query as object) {
      if (!takes(context, RouteParamtypes.QUERY)) {
        throw new ValidationFailedError(`The operation has no query parameter ${quoted(name)}.`);
      }
      break;
    }
    if (!hasBody(request.headers)) {
      return true;
    }
    if (!takes(context, RouteParamtypes.BODY)) {
      throw new ValidationFailedError('The operation takes no body. Send the request without one.');
    }
    return read(request, http.getResponse<FastifyReply>());
  }
}

/** Whether the operation has parameters of this kind. */
function takes(context: ExecutionContext, kind: RouteParamtypes): boolean {
  const { name } = context.getHandler();
  const parameters = Reflect.getMetadata(ROUTE_ARGS_METADATA, context.getClass(), name) as object | undefined;
  return Object.keys(parameters ?? {}).some((key) => key.startsWith(`${kind}:`));
}

/** Query parsers take an invalid escape literally, so the search would use a value that the caller did not mean. */
function assertDecodable(target: string): void {
  const query = target.slice(target.indexOf('?') + 1);
  if (query.length < target.length && query.includes('%')) {
    try {
      decodeURIComponent(query);
    } catch {
      throw new ValidationFailedError('The query has an invalid percent escape.');
    }
  }
}

function hasBody(headers: IncomingHttpHeaders): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) !== 0;
}

async function read(request: FastifyRequest, reply: FastifyReply): Promise<boolean> {
  const { headers } = request;
  const expected = request.method === 'PATCH' ? PATCH_TYPES : JSON_TYPES;
  if (!isExpected(headers['content-type'], expected) || isCoded(headers)) {
    throw new UnsupportedMediaTypeError(expected.join(' or '));
  }
  const body = await readBody(request.raw, reply.raw);
  request.body = body.length === 0 ? undefined : parseJson(body);
  request.rawBody = body;
  return true;
}

function isExpected(contentType: string | undefined, expected: string[]): boolean {
  const [type = '', ...parameters] = (contentType ?? '').toLowerCase().split(';');
  return expected.includes(type.trim()) && parameters.every(isUtf8Parameter);
}

function isUtf8Parameter(parameter: string): boolean {
  const [name = '', value = ''] = parameter.split('=').map((part) => part.trim());
  return name !== 'charset' || value.replaceAll('"', '') === 'utf-8';
}

/** True for a content coding, or for a transfer coding that Node does not decode. */
function isCoded(headers: IncomingHttpHeaders): boolean {
  const content = headers['content-encoding']?.toLowerCase() ?? 'identity';
  const transfer = headers['transfer-encoding']?.toLowerCase() ?? 'chunked';
  return content !== 'identity' || transfer !== 'chunked';
}

export const MAX_BODY_BYTES = 64 * 1024;
/** Each chunk costs as much as a small body, however short it is. */
export const MAX_BODY_CHUNKS = 1_024;

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
function readBody(request: IncomingMessage, response: ServerResponse): Promise<Buffer> {
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
      // Without a consumer the rest would be kept, and the connection would be unusable for the next request.
      request.on('data', () => undefined);
      request.resume();
      reject(error);
    };
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      chunks.push(chunk);
      if (bytes > MAX_BODY_BYTES) {
        stop(new PayloadTooLargeError(MAX_BODY_BYTES));
      } else if (chunks.length > MAX_BODY_CHUNKS) {
        stop(new BadRequestError(`The body arrives in more than ${MAX_BODY_CHUNKS} chunks.`));
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
