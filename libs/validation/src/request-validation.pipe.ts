import { type ArgumentMetadata, Injectable, type PipeTransform, type Type } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import { type ValidationError, getMetadataStorage, validateSync } from 'class-validator';
import { ValidationFailedError } from '#libs/http';

/** Problems told of at once; more would only bury the first ones. */
const MAX_PROBLEMS = 5;

/**
 * Turns a body or a query into an instance of its class, or refuses it.
 * @throws ApiError 400 `validation_failed`, whose message names each field and what would be right.
 */
@Injectable()
export class RequestValidationPipe implements PipeTransform<unknown, unknown> {
  transform(value: unknown, { type, metatype }: ArgumentMetadata): unknown {
    if ((type !== 'body' && type !== 'query') || metatype === undefined || metatype === Object) {
      return value;
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
 * @param isText the values are text that the class's @Transform decorators read, as in a query
 * @throws ApiError 400 `validation_failed`
 */
export function validated<Shape extends object>(shape: Type<Shape>, value: object, isText = false): Shape {
  const fields = fieldsOf(shape);
  // Told by the class alone: an object inherits `toString` and the like, which nobody declared.
  const [known, unknown] = split(Object.entries(value), ([name]) => fields.includes(name));
  const given = Object.fromEntries(known);
  // A body is taken as it is: class-transformer would walk through whatever a caller has nested into it.
  const instance = isText ? plainToInstance(shape, given) : Object.assign(new shape(), given);
  const errors = validateSync(instance, {
    forbidUnknownValues: true,
    stopAtFirstError: true,
    validationError: { target: false, value: false },
  });
  const problems = [...unknown.map(([name]) => unknownField(name, fields)), ...errors.map(messageOf)];
  if (problems.length > 0) {
    throw new ValidationFailedError(listed(problems));
  }
  return instance;
}

function split<Item>(items: Item[], belongs: (item: Item) => boolean): [Item[], Item[]] {
  return [items.filter(belongs), items.filter((item) => !belongs(item))];
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
  return `${printable(name)} is not allowed here${allowed}`;
}

/** A caller's own name for something, fit to stand in a message. */
export function printable(name: string): string {
  const short = name.length > 40 ? `${name.slice(0, 40)}…` : name;
  return JSON.stringify(short.toWellFormed());
}

const fieldsByShape = new WeakMap<Type<object>, readonly string[]>();

function fieldsOf(shape: Type<object>): readonly string[] {
  let fields = fieldsByShape.get(shape);
  if (fields === undefined) {
    const metadata = getMetadataStorage().getTargetValidationMetadatas(shape, '', false, false);
    fields = [...new Set(metadata.map(({ propertyName }) => propertyName))];
    fieldsByShape.set(shape, fields);
  }
  return fields;
}
