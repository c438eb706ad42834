// This file converts bodies and queries to instances of their DTO classes, and validates the fields.
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
import { ValidationTypes, getMetadataStorage } from 'class-validator';
import type { FastifyRequest } from 'fastify';
import { ValidationFailedError } from './errors';
import { AddRouteConfig } from './routes';

const MAX_PROBLEMS = 5;

declare module 'fastify' {
  interface FastifyContextConfig {
    ignoresQuery?: true;
  }
}

/**
 * Makes a route ignore query parameters instead of refusing a request that has any. Programs that check the health of
 * the service may add parameters.
 */
export function IgnoresQuery(): MethodDecorator {
  return AddRouteConfig({ ignoresQuery: true });
}

/**
 * Refuses a query or a body if the operation takes none. If the operation ignored such input, the caller would not
 * notice the mistake.
 */
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

/** Refuses an invalid percent escape in the query, because the query parser would take the escape for ordinary text. */
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
      const example = JSON.stringify(exampleOf(metatype as Type<object>));
      throw new ValidationFailedError(`The request needs a body that is a JSON object, such as ${example}.`);
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
  const rules = rulesOf(shape);
  const unknown: string[] = [];
  for (const [name, part] of Object.entries(value)) {
    const rule = rules.get(name);
    if (rule === undefined) {
      unknown.push(name);
    } else {
      instance[name] = isQuery ? rule.fromQuery(part) : rule.fromBody(part);
    }
  }
  const problems: string[] = [];
  for (const [name, { accepts, problemOf }] of rules) {
    if (!accepts(instance[name])) {
      problems.push(problemOf(name, instance[name]));
    }
  }
  if (unknown.length + problems.length > 0) {
    throw new ValidationFailedError(summaryOf(problems, unknown, namesOf(shape)));
  }
  return instance as Shape;
}

function summaryOf(problems: string[], unknown: string[], allowed: string[]): string {
  // Describe only the first unknown names, because a request may have thousands of unknown names.
  const named = unknown
    .slice(0, MAX_PROBLEMS)
    .map((name) => `${quoted(name)} is not allowed here (allowed: ${allowed.join(', ')})`);
  const first = [...named, ...problems].slice(0, MAX_PROBLEMS);
  const hidden = unknown.length + problems.length - MAX_PROBLEMS;
  return `${[...first, ...(hidden > 0 ? [`${hidden} more`] : [])].join('; ')}.`;
}

/** Quotes a name that the caller has sent. A long name is cut, because it may be an API key in the wrong place. */
function quoted(name: string): string {
  const short = name.length > 30 ? `${name.slice(0, 30)}…` : name;
  return JSON.stringify(short.toWellFormed());
}

/** Returns the names of the fields in the order in which the OpenAPI document shows the fields. */
function namesOf({ prototype }: Type<object>): string[] {
  const names = Reflect.getMetadata(DECORATORS.API_MODEL_PROPERTIES_ARRAY, prototype as object) as string[];
  // Remove the colon with which @nestjs/swagger stores the name of a field, for example `:priority`.
  return names.map((name) => name.slice(1));
}

export function exampleOf(shape: Type<object>): Record<string, unknown> {
  const describe = (name: string) =>
    Reflect.getMetadata(DECORATORS.API_MODEL_PROPERTIES, shape.prototype as object, name) as {
      example?: unknown;
    };
  return Object.fromEntries(namesOf(shape).map((name) => [name, describe(name).example]));
}

export interface FieldRule {
  /** True if the converted value is valid. The value is undefined if the request does not have the field. */
  accepts: (value: unknown) => boolean;
  /** Returns the sentence for the error message, without a full stop. */
  problemOf: (name: string, value: unknown) => string;
  fromBody: (given: unknown) => unknown;
  /** Converts the text of a query parameter to the type of the field, if possible. */
  fromQuery: (given: unknown) => unknown;
}

const known = new Map<object, ReadonlyMap<string, FieldRule>>();

/**
 * Returns the rules of a class by field. The decorator `Field` has stored the rules in class-validator's metadata, so that
 * subclasses and the classes of `PartialType` have the rules, too. This function reads the rules from the metadata, because
 * calling the rules is 20 times as fast as class-validator's `validateSync`.
 */
function rulesOf(shape: Type<object>): ReadonlyMap<string, FieldRule> {
  let rules = known.get(shape);
  if (rules === undefined) {
    const metadata = getMetadataStorage().getTargetValidationMetadatas(shape, '', false, false);
    const { CONDITIONAL_VALIDATION, CUSTOM_VALIDATION } = ValidationTypes;
    const ofType = (wanted: string) => metadata.filter(({ type }) => type === wanted);
    // `PartialType` makes a field optional by adding a condition to its validation.
    const optional = new Set(ofType(CONDITIONAL_VALIDATION).map(({ propertyName }) => propertyName));
    rules = new Map(
      ofType(CUSTOM_VALIDATION).map(({ propertyName, constraints: [rule] }) => [
        propertyName,
        optional.has(propertyName) ? orAbsent(rule as FieldRule) : (rule as FieldRule),
      ]),
    );
    known.set(shape, rules);
  }
  return rules;
}

function orAbsent(rule: FieldRule): FieldRule {
  return { ...rule, accepts: (value) => value === undefined || rule.accepts(value) };
}

/** Converts a name to Unicode's composed form (NFC), because the same name can be encoded in different forms. */
export function composed(name: string): string {
  return name.normalize('NFC');
}

const LITERAL = /^(?:0|[1-9]\d{0,15}|true|false)$/;

/** Parses `true`, `false` or an integer without sign and leading zero. Any other value is returned unchanged. */
export function parseLiteral(given: unknown): unknown {
  return typeof given === 'string' && LITERAL.test(given) ? JSON.parse(given) : given;
}
