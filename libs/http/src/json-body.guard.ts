import { type IncomingHttpHeaders, METHODS } from 'node:http';
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { UnsupportedMediaTypeError } from './errors';
import { parseJson, readBody } from './read-json';

declare module 'fastify' {
  interface FastifyRequest {
    /** The body as it was sent; absent without one. */
    rawBody?: Buffer;
  }
}

const METHODS_WITH_BODY = new Set(['POST', 'PUT', 'PATCH']);
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

/** Accepts only JSON bodies, and sets `request.body` and `request.rawBody`. The last guard: it runs once the caller is admitted. */
@Injectable()
export class JsonBodyGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    return METHODS_WITH_BODY.has(request.method) ? this.admitBody(request) : true;
  }

  private async admitBody(request: FastifyRequest): Promise<boolean> {
    const { headers } = request;
    if (headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0) {
      return true;
    }
    const takes = request.method === 'PATCH' ? PATCH_TYPES : JSON_TYPES;
    if (!isTaken(headers['content-type'], takes) || isCoded(headers)) {
      throw new UnsupportedMediaTypeError(takes.join(' or '));
    }
    const body = await readBody(request.raw);
    request.body = body.length === 0 ? undefined : parseJson(body);
    request.rawBody = body;
    return true;
  }
}

function isTaken(contentType: string | undefined, takes: string[]): boolean {
  const [type = '', ...parameters] = (contentType ?? '').toLowerCase().split(';');
  return takes.includes(type.trim()) && parameters.every(isUtf8Parameter);
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
