// Decorators for the fields of bodies, queries and responses. Each one validates a field and documents it.
import {
  applyDecorators,
  type ArgumentMetadata,
  Injectable,
  Param,
  type PipeTransform,
  type Type,
} from '@nestjs/common';
import { ApiParam, ApiProperty, type ApiPropertyOptions, type SchemaObject } from '@nestjs/swagger';
import { arrayMaxSize, isBoolean, isIn, isInt, max as isAtMost, min as isAtLeast } from 'class-validator';
import { ValidationFailedError } from './errors';

export interface FieldOptions {
  description: string;
  example?: unknown;
  default?: unknown;
  optional?: boolean;
  /** Accepts null, too, and may be absent: in a JSON Merge Patch null removes the value (RFC 7396). */
  nullable?: boolean;
  /** For a query parameter, which is always optional: how often it may occur. More than once: the value is a list. */
  times?: number;
  /** Name of the shared schema of an enumeration. */
  enumName?: string;
}

/** Whether a value is valid. The functions of class-validator have this form. */
type Check = (value: unknown) => boolean;

/** What a query is read by, and bodies are validated by. */
interface DescribedField {
  type: SchemaObject['type'];
  isList: boolean;
  example: unknown;
  accepts: Check;
  /** What is wrong with a value that is not accepted. */
  problemOf: (name: string, value: unknown) => string;
}

const FIELDS = 'validation:fields';

/**
 * A field with these values.
 * @param expected describes valid values; follows "must be"
 * @param isValid for each value of a list, if the field is one
 */
export function Field(
  options: FieldOptions,
  schema: SchemaObject,
  expected: string,
  isValid: Check,
): PropertyDecorator {
  const { nullable = false, times = 1 } = options;
  const often = times > 1 ? `, given at most ${times} times` : options.times === 1 ? ', given once' : '';
  const expectation = `must be ${expected}${often}${nullable ? ', or null' : ''}`;
  const areValid: Check = (values) => arrayMaxSize(values, times) && (values as unknown[]).every(isValid);
  const isGivenValid = times > 1 ? areValid : isValid;
  const field: DescribedField = {
    type: schema.type,
    isList: times > 1,
    example: options.example,
    accepts: (value) =>
      value === undefined ? isOptional(options) : (nullable && value === null) || isGivenValid(value),
    problemOf: (name, value) => `${name} ${value === undefined ? 'is required and ' : ''}${expectation}`,
  };
  return applyDecorators(ApiProperty(describe(schema, options)), (prototype: object, name: string | symbol) =>
    Reflect.defineMetadata(FIELDS, new Map([...fieldsOf(prototype), [name, field]]), prototype),
  );
}

function isOptional({ optional = false, nullable = false, times }: FieldOptions): boolean {
  return optional || nullable || times !== undefined;
}

function describe(schema: SchemaObject, options: FieldOptions): ApiPropertyOptions {
  const { optional: _optional, times = 1, enumName, ...documented } = options;
  const required = !isOptional(options);
  if (times > 1 && enumName !== undefined) {
    // Swagger would leave maxItems out of an array of a shared enumeration.
    const items = { $ref: `#/components/schemas/${enumName}` };
    return { type: 'array', items, maxItems: times, ...documented, required };
  }
  const list = times > 1 ? { isArray: true, maxItems: times } : {};
  const name = enumName === undefined ? {} : { enumName };
  return { ...schema, ...name, ...documented, required, ...list } as ApiPropertyOptions;
}

/** Largest identifier: the largest integer that a JSON number carries exactly, 2^53 - 1. */
const MAX_ID = Number.MAX_SAFE_INTEGER;
export const ID_SCHEMA: SchemaObject = { type: 'integer', format: 'int64', minimum: 1, maximum: MAX_ID };
export const EXPECTED_ID = `an integer from 1 to ${MAX_ID}`;

export function Id(options: FieldOptions): PropertyDecorator {
  return Field(options, ID_SCHEMA, EXPECTED_ID, isId);
}

export function isId(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 1;
}

interface IntegerOptions extends FieldOptions {
  min: number;
  max: number;
  /** A number in the range that is not valid. */
  except?: number;
}

export function Integer({ min, max, except, ...options }: IntegerOptions): PropertyDecorator {
  const hasGap = except !== undefined;
  const schema: SchemaObject = { type: 'integer', format: 'int32', minimum: min, maximum: max };
  return Field(
    options,
    { ...schema, ...(hasGap ? { not: { enum: [except] } } : {}) },
    `an integer from ${min} to ${max}${hasGap ? `, but not ${except}` : ''}`,
    (value) => isInt(value) && isAtLeast(value, min) && isAtMost(value, max) && value !== except,
  );
}

interface TextOptions extends FieldOptions {
  /** By default 0. */
  min?: number;
  max: number;
  notBlank?: boolean;
}

/** Text measured in characters (Unicode code points), as JSON Schema counts them; no NUL and no unpaired surrogates. */
export function Text({ min = 0, max, notBlank = false, ...options }: TextOptions): PropertyDecorator {
  const length = min === 0 ? `at most ${max} characters` : `${min} to ${max} characters`;
  const visible = notBlank ? ', at least one of them not white space' : '';
  const schema: SchemaObject = {
    type: 'string',
    ...(min > 0 ? { minLength: min } : {}),
    maxLength: max,
    pattern: notBlank ? '^[^\\x00]*\\S[^\\x00]*$' : '^[^\\x00]*$',
  };
  const expected = `${length}${visible}, without NUL or unpaired surrogates`;
  const isValid: Check = (value) => isText(value, min, max) && (!notBlank || /\S/.test(value));
  return Field(options, schema, expected, isValid);
}

/** PostgreSQL stores no NUL, and an unpaired surrogate would come back as another character. */
const UNSTORABLE = /\0|\p{Surrogate}/u;

/** `Length` of class-validator does not count variation selectors, which the database does. */
function isText(value: unknown, min: number, max: number): value is string {
  // A string has at most as many characters as UTF-16 units, and at least half as many.
  if (typeof value !== 'string' || value.length < min || value.length > 2 * max) {
    return false;
  }
  return (value.length <= max || [...value].length <= max) && !UNSTORABLE.test(value);
}

export function OneOf(values: readonly string[], options: FieldOptions): PropertyDecorator {
  const schema: SchemaObject = { type: 'string', enum: [...values] };
  return Field(options, schema, `one of ${values.join(', ')}`, (value) => isIn(value, values));
}

export function TrueOrFalse(options: FieldOptions): PropertyDecorator {
  return Field(options, { type: 'boolean' }, 'true or false', isBoolean);
}

const MAX_TIMESTAMP_LENGTH = 64;
const RFC_3339 =
  /^(\d{4}-\d{2}-\d{2})T((?:[01]\d|2[0-3]):[0-5]\d):([0-5]\d|60)(\.\d+)?(Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i;

export const TIMESTAMP_SCHEMA: SchemaObject = {
  type: 'string',
  format: 'date-time',
  maxLength: MAX_TIMESTAMP_LENGTH,
};

/** A point in time with an offset (RFC 3339), in the years 0001 to 9999, also in UTC. */
export function Timestamp(options: FieldOptions): PropertyDecorator {
  const expected =
    'a date and time with an offset as in RFC 3339, such as 2026-11-21T09:30:00Z, in the years 0001 to 9999';
  const isTimestamp = (value: unknown) => typeof value === 'string' && parseTimestamp(value) !== null;
  return Field(options, TIMESTAMP_SCHEMA, expected, isTimestamp);
}

/**
 * Reads a timestamp of RFC 3339, to the millisecond. A leap second is the first second of the next day, as in POSIX time.
 * @returns null if the text is not one, with an offset, in the years 0001 to 9999, also in UTC
 */
export function parseTimestamp(text: string): Date | null {
  const [, date, minute, second, fraction = '', zone] = RFC_3339.exec(text) ?? [];
  if (date === undefined || text.length > MAX_TIMESTAMP_LENGTH) {
    return null;
  }
  const isLeap = second === '60';
  const time = `${minute}:${isLeap ? '59' : second}${fraction.slice(0, 4)}`;
  const read = new Date(`${date}T${time}${zone!.toUpperCase()}`);
  if (isLeap && !isLastSecondOfMonth(read)) {
    return null;
  }
  const point = isLeap ? new Date(read.getTime() + 1_000) : read;
  const utcYear = point.getUTCFullYear();
  const isInRange = !date.startsWith('0000') && utcYear >= 1 && utcYear <= 9999;
  // `Date` turns the 30th of February into a day in March instead of refusing it.
  return isInRange && new Date(date).toJSON()?.startsWith(date) ? point : null;
}

/** Leap seconds are added at the end of a month in UTC. */
function isLastSecondOfMonth(time: Date): boolean {
  const next = new Date(time.getTime() + 1_000);
  return next.getUTCMonth() !== time.getUTCMonth();
}

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
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw new ValidationFailedError('The request needs a body, and it must be a JSON object.');
    }
    return validated(metatype as Type<object>, value, type === 'query');
  }
}

/**
 * An instance of the class with the value's fields.
 * @param isQuery all values are text
 * @throws ApiError 400 `validation_failed`
 */
export function validated<Shape extends object>(shape: Type<Shape>, value: object, isQuery = false): Shape {
  const instance = new shape() as Record<string, unknown>;
  const fields = fieldsOf(shape.prototype as object);
  const unknown: string[] = [];
  for (const [name, part] of Object.entries(value)) {
    const field = fields.get(name);
    if (field === undefined) {
      unknown.push(name);
    } else {
      instance[name] = isQuery ? read(field, part) : part;
    }
  }
  const problems: string[] = [];
  for (const [name, field] of fields) {
    if (!field.accepts(instance[name])) {
      problems.push(field.problemOf(name, instance[name]));
    }
  }
  const count = unknown.length + problems.length;
  if (count > 0) {
    // A query may have thousands of unknown names, of which only the first are worth a text.
    const allowed = [...fields.keys()].join(', ');
    const named = unknown
      .slice(0, MAX_PROBLEMS)
      .map((name) => `${quoted(name)} is not allowed here (allowed: ${allowed})`);
    const first = [...named, ...problems].slice(0, MAX_PROBLEMS);
    const more = count > MAX_PROBLEMS ? [`${count - MAX_PROBLEMS} more`] : [];
    throw new ValidationFailedError(`${[...first, ...more].join('; ')}.`);
  }
  return instance as Shape;
}

/** A name chosen by the caller, made safe for a message: too short for a key that was sent in the wrong place. */
export function quoted(name: string): string {
  const short = name.length > 30 ? `${name.slice(0, 30)}…` : name;
  return JSON.stringify(short.toWellFormed());
}

/** The examples of the fields of a class. */
export function exampleOf(shape: Type<object>): Record<string, unknown> {
  return Object.fromEntries(
    [...fieldsOf(shape.prototype as object)].map(([name, { example }]) => [name, example]),
  );
}

/** Those that a class inherits, too. */
function fieldsOf(prototype: object): ReadonlyMap<string, DescribedField> {
  return (Reflect.getMetadata(FIELDS, prototype) as Map<string, DescribedField> | undefined) ?? new Map();
}

/** Reads a query parameter as the type that its field documents. Text that cannot be read so stays as it is. */
function read({ type, isList }: DescribedField, given: unknown): unknown {
  return isList ? [given].flat().map((item) => parse(item, type)) : parse(given, type);
}

function parse(given: unknown, type: DescribedField['type']): unknown {
  if (type === 'integer') {
    return wholeNumber(given);
  }
  return type === 'boolean' && (given === 'true' || given === 'false') ? given === 'true' : given;
}

/** Reads the one canonical decimal form: no sign, no leading zero, no fraction, no exponent. */
function wholeNumber(given: unknown): unknown {
  return typeof given === 'string' && /^(0|[1-9]\d{0,15})$/.test(given) ? Number(given) : given;
}

/** Parameter decorator: an identifier in the path, as a number. Anything else is 400 `validation_failed`. */
export function IdParam(name: string, description: string): ParameterDecorator {
  const transform = (text: string) => {
    const id = wholeNumber(text);
    if (!isId(id)) {
      throw new ValidationFailedError(`${name} must be ${EXPECTED_ID}.`);
    }
    return id;
  };
  return (target, key, index) => {
    Param(name, { transform })(target, key, index);
    const descriptor = Object.getOwnPropertyDescriptor(target, key!)!;
    const schema = { ...ID_SCHEMA, example: 1 };
    ApiParam({ name, description, required: true, schema } as never)(target, key!, descriptor);
  };
}
