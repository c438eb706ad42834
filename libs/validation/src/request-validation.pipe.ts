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
    return validated(metatype as Type<object>, value as object);
  }
}

function isJsonObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An instance of the class with the value's fields; throws ApiError `validation_failed`. */
export function validated<Shape extends object>(shape: Type<Shape>, value: object): Shape {
  const instance = plainToInstance(shape, { ...value });
  const errors = validateSync(instance, {
    whitelist: true,
    forbidNonWhitelisted: true,
    forbidUnknownValues: true,
    stopAtFirstError: true,
    validationError: { target: false, value: false },
  });
  if (errors.length > 0) {
    throw new ValidationFailedError(describe(errors, fieldsOf(shape)));
  }
  return instance;
}

function describe(errors: ValidationError[], fields: string[]): string {
  const problems = errors.slice(0, MAX_PROBLEMS).map((error) => {
    const [rule, message] = Object.entries(error.constraints ?? {})[0] ?? ['', 'A value is not valid'];
    return rule === 'whitelistValidation' ? unknownField(error.property, fields) : message;
  });
  const more = errors.length > MAX_PROBLEMS ? [`${errors.length - MAX_PROBLEMS} more`] : [];
  return `${[...problems, ...more].join('; ')}.`;
}

function unknownField(name: string, fields: string[]): string {
  const known = fields.length === 0 ? 'there are none' : `known are ${fields.join(', ')}`;
  return `${printable(name)} is not known here (${known})`;
}

/** A caller's own name for something, fit to stand in a message. */
export function printable(name: string): string {
  const short = name.length > 40 ? `${name.slice(0, 40)}…` : name;
  return JSON.stringify(short.toWellFormed());
}

function fieldsOf(shape: Type<object>): string[] {
  const metadata = getMetadataStorage().getTargetValidationMetadatas(shape, '', false, false);
  return [...new Set(metadata.map(({ propertyName }) => propertyName))];
}
