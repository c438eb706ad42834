import { hash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { ValidationFailedError, composed, headerValuesOf } from '#libs/http';

export function idempotencyKeyOf(request: FastifyRequest): string | undefined {
  const key = request.headers['idempotency-key'] as string | undefined;
  // Node joins repeated header fields with ", ", which a single key may contain as well. Count the fields.
  if (headerValuesOf(request.raw, 'idempotency-key').length > 1) {
    throw new ValidationFailedError('Idempotency-Key must be given once.');
  }
  if (key !== undefined && !/^[\x20-\x7e]{1,255}$/.test(key)) {
    throw new ValidationFailedError('Idempotency-Key must be 1 to 255 printable ASCII characters.');
  }
  return key;
}

/**
 * Returns a digest of the operation, the path parameters and the JSON body. The digest does not depend on the spelling
 * of the URL or of the JSON.
 */
export function fingerprintOf(request: FastifyRequest): string {
  return digestOf(request, composedInOrder);
}

/**
 * Returns the fingerprint that earlier versions of the service stored for the request. These versions did not convert
 * the name of a pet or category to Unicode's composed form.
 */
export function earlierFingerprintOf(request: FastifyRequest): string {
  return digestOf(request, inOrder);
}

function digestOf(request: FastifyRequest, replacer: Replacer): string {
  const { method, params, body } = request;
  const value = body === undefined ? '' : jsonOf(body, replacer);
  const text = `${method} ${request.routeOptions.url} ${JSON.stringify(params)}\n${value}`;
  return hash('sha256', text, 'base64url');
}

type Replacer = (name: string, value: unknown) => unknown;

function jsonOf(body: unknown, replacer: Replacer): string {
  try {
    return JSON.stringify(body, replacer);
  } catch {
    // `JSON.stringify` throws an error for thousands of nested arrays, which `JSON.parse` accepts.
    throw new ValidationFailedError('The body is nested too deeply.');
  }
}

/** Makes `JSON.stringify` sort the properties of objects, and convert names to Unicode's composed form. */
function composedInOrder(name: string, value: unknown): unknown {
  return name === 'name' && typeof value === 'string' ? composed(value) : inOrder(name, value);
}

/** Makes `JSON.stringify` sort the properties of objects. */
function inOrder(_name: string, value: unknown): unknown {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value;
}
