import { type ArgumentMetadata, Injectable, type PipeTransform, type Type } from '@nestjs/common';
import { type ValidationError, validateSync } from 'class-validator';
import { ValidationFailedError } from '../errors';
import { fieldsOf, isOptionalBody } from './fields';

/** How many problems are reported; more would only hide the first ones. */
const MAX_PROBLEMS = 5;

/**
 * Turns a body or a query into an instance of its class, or refuses it.
 * @throws ApiError 400 `validation_failed`, whose message names each field and its valid values.
 */
@Injectable()
export class RequestValidationPipe implements PipeTransform<unknown, unknown> {
  transform(value: unknown, { type, metatype }: ArgumentMetadata): unknown {
    if ((type !== 'body' && type !== 'query') || metatype === undefined || metatype === Object) {
      return value;
    }
    if (type === 'body' && value === undefined && isOptionalBody(metatype)) {
      return validated(metatype as Type<object>, {});
    }
    if (type === 'body' && !isJsonObject(value)) {
      throw new ValidationFailedError('The request needs a body, and it must be a JSON object.');
    }
    return validated(metatype as Type<object>, value as object, type === 'query');
  }
}

function isJsonObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * An instance of the class with the value's fields.
 * @param isText true if all values are text, as in a query
 * @throws ApiError 400 `validation_failed`
 */
export function validated<Shape extends object>(shape: Type<Shape>, value: object, isText = false): Shape {
  const fields = fieldsOf(shape);
  const instance = new shape() as Record<string, unknown>;
  const unknown: string[] = [];
  for (const [name, given] of Object.entries(value)) {
    const field = fields.get(name);
    if (field === undefined) {
      unknown.push(name);
    } else {
      instance[name] = isText ? field.read(given) : given;
    }
  }
  if (unknown.length > 0 || ![...fields.values()].every(({ name, passes }) => passes(instance[name]))) {
    throw new ValidationFailedError(listed(problemsOf(instance, unknown, [...fields.keys()])));
  }
  return instance as Shape;
}

function problemsOf(instance: object, unknown: string[], fields: readonly string[]): string[] {
  const errors = validateSync(instance, {
    forbidUnknownValues: true,
    stopAtFirstError: true,
    validationError: { target: false, value: false },
  });
  return [...unknown.map((name) => unknownField(name, fields)), ...errors.map(messageOf)];
}

function messageOf(error: ValidationError): string {
  return Object.values(error.constraints ?? {})[0] ?? 'A value is not valid';
}

function listed(problems: string[]): string {
  const more = problems.length > MAX_PROBLEMS ? [`${problems.length - MAX_PROBLEMS} more`] : [];
  return `${[...problems.slice(0, MAX_PROBLEMS), ...more].join('; ')}.`;
}

function unknownField(name: string, fields: readonly string[]): string {
  const allowed = fields.length === 0 ? '' : ` (allowed: ${fields.join(', ')})`;
  return `${quoted(name)} is not allowed here${allowed}`;
}

/** A name chosen by the caller, made safe for a message. */
export function quoted(name: string): string {
  const short = name.length > 40 ? `${name.slice(0, 40)}…` : name;
  return JSON.stringify(short.toWellFormed());
}
