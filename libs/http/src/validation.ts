// Converts bodies and queries to instances of their DTO classes, and validates the fields.
import {
  type ArgumentMetadata,
  type CanActivate,
  type ExecutionContext,
  Injectable,
  type PipeTransform,
  type Type,
} from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum';
import { DECORATORS } from '@nestjs/swagger';
import { IS_BOOLEAN, IS_INT, type ValidationError, getMetadataStorage, validateSync } from 'class-validator';
import type { ValidationMetadata } from 'class-validator/types/metadata/ValidationMetadata';
import type { FastifyRequest } from 'fastify';
import { ValidationFailedError } from './errors';
import { AddRouteConfig } from './routes';

const MAX_PROBLEMS = 5;

declare module 'fastify' {
  interface FastifyContextConfig {
    ignoresQuery?: true;
  }
}

/** Makes a route ignore query parameters instead of refusing them, because health checks may add parameters. */
export function IgnoresQuery(): MethodDecorator {
  return AddRouteConfig({ ignoresQuery: true });
}

/** Refuses a query or a body if the operation takes none, because ignoring it would hide the caller's mistake. */
@Injectable()
export class InputGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    if (!request.routeOptions.config.ignoresQuery) {
      assertDecodable(request.url);
      const [name] = Object.keys(request.query as object);
      if (name !== undefined && !hasParameter(context, RouteParamtypes.QUERY)) {
        throw new ValidationFailedError(`The operation has no query parameter ${quoted(name)}.`);
      }
    }
    if (request.body !== undefined && !hasParameter(context, RouteParamtypes.BODY)) {
      throw new ValidationFailedError('The operation takes no body. Send the request without one.');
    }
    return true;
  }
}

function hasParameter(context: ExecutionContext, kind: RouteParamtypes): boolean {
  const { name } = context.getHandler();
  const parameters = Reflect.getMetadata(ROUTE_ARGS_METADATA, context.getClass(), name) as object | undefined;
  return Object.keys(parameters ?? {}).some((key) => key.startsWith(`${kind}:`));
}

/** Refuses an invalid percent escape in the query, because the query parser would take it literally. */
function assertDecodable(target: string): void {
  try {
    decodeURIComponent(target);
  } catch {
    throw new ValidationFailedError('The query has an invalid percent escape.');
  }
}

@Injectable()
export class RequestValidationPipe implements PipeTransform<unknown, unknown> {
  transform(value: unknown, { type, metatype }: ArgumentMetadata): unknown {
    if ((type !== 'body' && type !== 'query') || metatype === undefined || metatype === Object) {
      return value;
    }
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw new ValidationFailedError('The request needs a body, which must be a JSON object.');
    }
    return validated(metatype as Type<object>, value, type === 'query');
  }
}

/**
 * Returns an instance of the class with the fields of `value`.
 * @param isQuery true if all values are text, so that numbers and booleans have to be parsed
 * @throws ApiError 400 `validation_failed`, whose message names the invalid fields
 */
export function validated<Shape extends object>(shape: Type<Shape>, value: object, isQuery = false): Shape {
  const instance = new shape() as Record<string, unknown>;
  const fields = fieldsOf(shape);
  const unknown: string[] = [];
  // Do not leave unknown fields to class-validator, which takes a field named `constructor` for a known one.
  for (const [name, part] of Object.entries(value)) {
    const convert = fields.get(name);
    if (convert === undefined) {
      unknown.push(name);
    } else {
      instance[name] = convert(part, isQuery);
    }
  }
  const errors = validateSync(instance, { stopAtFirstError: true, forbidUnknownValues: false });
  if (unknown.length + errors.length > 0) {
    throw new ValidationFailedError(messageOf(unknown, errors, [...fields.keys()]));
  }
  return instance as Shape;
}

function messageOf(unknown: string[], errors: ValidationError[], names: string[]): string {
  // Describe only the first unknown names, because there may be thousands of them.
  const named = unknown
    .slice(0, MAX_PROBLEMS)
    .map((name) => `${quoted(name)} is not allowed here (allowed: ${names.join(', ')})`);
  const problems = errors.flatMap(({ constraints = {} }) => Object.values(constraints));
  const first = [...named, ...problems].slice(0, MAX_PROBLEMS);
  const count = unknown.length + errors.length;
  const more = count > MAX_PROBLEMS ? [`${count - MAX_PROBLEMS} more`] : [];
  return `${[...first, ...more].join('; ')}.`;
}

/** Quotes a name that the caller has sent. A long name is cut, because it may be an API key in the wrong place. */
function quoted(name: string): string {
  const short = name.length > 30 ? `${name.slice(0, 30)}…` : name;
  return JSON.stringify(short.toWellFormed());
}

export function exampleOf(shape: Type<object>): Record<string, unknown> {
  const describe = (name: string) =>
    Reflect.getMetadata(DECORATORS.API_MODEL_PROPERTIES, shape.prototype as object, name) as {
      example?: unknown;
    };
  return Object.fromEntries([...fieldsOf(shape).keys()].map((name) => [name, describe(name).example]));
}

type Convert = (given: unknown, isQuery: boolean) => unknown;

const converters = new Map<object, ReadonlyMap<string, Convert>>();

/** Returns the fields of a class, those of its parent class first. */
function fieldsOf(shape: Type<object>): ReadonlyMap<string, Convert> {
  let fields = converters.get(shape);
  if (fields === undefined) {
    const storage = getMetadataStorage();
    const parent = Object.getPrototypeOf(shape) as Type<object>;
    const rules = storage.getTargetValidationMetadatas(shape, '', false, false);
    const own = Object.entries(storage.groupByPropertyName(rules));
    fields = new Map([
      ...(parent === Function.prototype ? [] : fieldsOf(parent)),
      ...own.map(([name, ofField]) => [name, converterOf(ofField)] as const),
    ]);
    converters.set(shape, fields);
  }
  return fields;
}

export const IS_NAME = 'isName';

/** Converts a name to Unicode's composed form (NFC), because the same name can be encoded in different forms. */
export function composed(name: string): string {
  return name.normalize('NFC');
}

/** Converts names of a body and a query, and the text of a query parameter to the type of its field, if possible. */
function converterOf(rules: ValidationMetadata[]): Convert {
  const has = (rule: string) => rules.some(({ name }) => name === rule);
  const isList = rules.some(({ each }) => each);
  const isLiteral = has(IS_INT) || has(IS_BOOLEAN);
  const isName = has(IS_NAME);
  const convert: Convert = (given, isQuery) =>
    isName && typeof given === 'string'
      ? composed(given)
      : isQuery && isLiteral
        ? parseLiteral(given)
        : given;
  return (given, isQuery) =>
    isQuery && isList ? [given].flat().map((one) => convert(one, true)) : convert(given, isQuery);
}

const LITERAL = /^(?:0|[1-9]\d{0,15}|true|false)$/;

/**
 * Parses `true`, `false`, or an integer without sign, leading zero, fraction and exponent. Any other value is returned
 * unchanged.
 */
export function parseLiteral(given: unknown): unknown {
  return typeof given === 'string' && LITERAL.test(given) ? JSON.parse(given) : given;
}
