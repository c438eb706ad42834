// This file has the decorators that declare the fields of bodies, queries and responses. Each decorator adds a
// validation rule and an OpenAPI description.
import { Param, applyDecorators } from '@nestjs/common';
import { ApiParam, ApiProperty, type ApiPropertyOptions, type SchemaObject } from '@nestjs/swagger';
import { ValidateBy, isBoolean, isIn, isRFC3339 } from 'class-validator';
import { ValidationFailedError } from './errors';
import { type FieldRule, composed, parseLiteral } from './validation';

export interface FieldOptions {
  description: string;
  example?: unknown;
  default?: unknown;
  optional?: boolean;
  /** The field may be null or absent. In a JSON Merge Patch, null removes the value (RFC 7396). */
  nullable?: boolean;
  /** How often a query parameter may occur. If more than once, the value is a list. */
  times?: number;
  enumName?: string;
}

/**
 * Declares a field with its OpenAPI schema and its validation rule.
 * @param expected describes valid values for error messages; follows the words "must be"
 * @param isValid checks one value; if the field is a list, checks one entry of the list
 * @param normalize converts a value before it is checked
 */
export function Field(
  options: FieldOptions,
  schema: SchemaObject,
  expected: string,
  isValid: (value: unknown) => boolean,
  normalize = (value: unknown): unknown => value,
): PropertyDecorator {
  const { optional = false, nullable = false, times, enumName, ...documented } = options;
  const isList = times !== undefined && times > 1;
  const required = !optional && !nullable && times === undefined;
  const often = isList ? `, given at most ${times} times` : times === 1 ? ', given once' : '';
  const expectation = `must be ${expected}${often}${nullable ? ', or null' : ''}`;
  // Build the schema of a list here and not in @nestjs/swagger, which omits `maxItems` if the entries have a named
  // enumeration.
  const items = enumName === undefined ? schema : { $ref: `#/components/schemas/${enumName}` };
  const described = isList ? { type: 'array', items, maxItems: times } : { ...schema, enumName };
  const isLiteral = schema.type === 'integer' || schema.type === 'boolean';
  const parse = isLiteral ? parseLiteral : normalize;
  const rule: FieldRule = {
    accepts: (value) => {
      if (value === undefined || value === null) {
        return value === undefined ? !required : nullable;
      }
      return isList ? Array.isArray(value) && value.length <= times && value.every(isValid) : isValid(value);
    },
    problemOf: (name, value) =>
      `${name} ${value === undefined ? 'is required and ' : ''}${expectation}${isList ? ` (${name}=…&${name}=…)` : ''}`,
    fromBody: normalize,
    fromQuery: (given) => (isList ? [given].flat().map(parse) : parse(given)),
  };
  return applyDecorators(
    ApiProperty({
      ...described,
      ...documented,
      nullable: nullable || undefined,
      required,
    } as ApiPropertyOptions),
    ValidateBy({ name: 'field', constraints: [rule], validator: { validate: rule.accepts } }),
  );
}

function isIntegerIn(value: unknown, min: number, max: number): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max;
}

const MAX_ID = Number.MAX_SAFE_INTEGER;
export const ID_SCHEMA: SchemaObject = { type: 'integer', format: 'int64', minimum: 1, maximum: MAX_ID };
const EXPECTED_ID = `an integer from 1 to ${MAX_ID}`;

export function Id(options: FieldOptions): PropertyDecorator {
  return Field(options, ID_SCHEMA, EXPECTED_ID, (value) => isIntegerIn(value, 1, MAX_ID));
}

/**
 * Parameter decorator for an id in the path. The handler gets a number. A text that is no id is refused with 400
 * `validation_failed`.
 * @param example the id in the OpenAPI document. Operations that delete need an example of their own: a testing tool
 * that sends the examples would otherwise delete what the reading operations ask for
 */
export function IdParam(name: string, description: string, example = 1): ParameterDecorator {
  const transform = (text: string) => {
    const id = parseLiteral(text);
    if (!Number.isSafeInteger(id) || id === 0) {
      throw new ValidationFailedError(`${name} must be ${EXPECTED_ID}.`);
    }
    return id;
  };
  return (target, key, index) => {
    Param(name, { transform })(target, key, index);
    const descriptor = Object.getOwnPropertyDescriptor(target, key!)!;
    const schema = { ...ID_SCHEMA, example };
    ApiParam({ name, description, required: true, schema } as never)(target, key!, descriptor);
  };
}

export function Integer({
  min,
  max,
  except,
  ...options
}: FieldOptions & { min: number; max: number; except?: number }): PropertyDecorator {
  const gap = except === undefined ? {} : { not: { enum: [except] } };
  const schema = { type: 'integer', format: 'int32', minimum: min, maximum: max, ...gap };
  const expected = `an integer from ${min} to ${max}${except === undefined ? '' : `, but not ${except}`}`;
  return Field(options, schema, expected, (value) => isIntegerIn(value, min, max) && value !== except);
}

interface TextOptions extends FieldOptions {
  min?: number;
  max: number;
  notBlank?: boolean;
  /**
   * The value is a name or the beginning of a name. Such a value is converted to Unicode's composed form (NFC) before
   * validation.
   */
  isName?: boolean;
}

/** Declares a text whose length is counted in Unicode code points, as in JSON Schema. */
export function Text({
  min = 0,
  max,
  notBlank = false,
  isName = false,
  ...options
}: TextOptions): PropertyDecorator {
  const length = min === 0 ? `at most ${max} characters` : `${min} to ${max} characters`;
  const visible = notBlank ? ', at least one of them not white space' : '';
  const expected = `${length}${visible}, without NUL or unpaired surrogates`;
  const pattern = notBlank ? '^[^\\x00]*\\S[^\\x00]*$' : '^[^\\x00]*$';
  const schema = { type: 'string', ...(min > 0 ? { minLength: min } : {}), maxLength: max, pattern };
  const isValid = (value: unknown) => isText(value, min, max) && (!notBlank || /\S/.test(value));
  const form = isName ? ' Converted to Unicode NFC.' : '';
  const documented = { ...options, description: `${options.description}${form}` };
  const normalize = (value: unknown) => (isName && typeof value === 'string' ? composed(value) : value);
  return Field(documented, schema, expected, isValid, normalize);
}

/**
 * Matches characters that PostgreSQL cannot store. PostgreSQL refuses NUL, and an unpaired surrogate would be stored as
 * another character.
 */
const UNSAVABLE = /\0|\p{Surrogate}/u;

/**
 * True if the value is a text of `min` to `max` characters that PostgreSQL can store. class-validator's own `length` is not
 * used, because it does not count variation selectors (U+FE0E and U+FE0F), which the database counts as characters.
 */
function isText(value: unknown, min: number, max: number): value is string {
  if (typeof value !== 'string' || value.length < min || UNSAVABLE.test(value)) {
    return false;
  }
  // `length` counts UTF-16 units, of which a character takes one or two. So a text of at most `max` units is never too long,
  // and a text of more than `2 * max` units always is. Count the characters only in between, because counting is slow.
  return value.length <= max || (value.length <= 2 * max && [...value].length <= max);
}

export function OneOf(values: readonly string[], options: FieldOptions): PropertyDecorator {
  const schema: SchemaObject = { type: 'string', enum: [...values] };
  return Field(options, schema, `one of ${values.join(', ')}`, (value) => isIn(value, values));
}

export function TrueOrFalse(options: FieldOptions): PropertyDecorator {
  return Field(options, { type: 'boolean' }, 'true or false', isBoolean);
}

const MAX_TIMESTAMP_LENGTH = 64;
export const TIMESTAMP_SCHEMA = { type: 'string', format: 'date-time', maxLength: MAX_TIMESTAMP_LENGTH };

export function Timestamp(options: FieldOptions): PropertyDecorator {
  const expected =
    'a date and time with an offset as in RFC 3339, such as 2026-11-21T09:30:00Z, in the years 0001 to 9999';
  const isValid = (value: unknown) => typeof value === 'string' && parseTimestamp(value) !== null;
  return Field(options, TIMESTAMP_SCHEMA, expected, isValid);
}

/**
 * Parses an RFC 3339 timestamp to the millisecond. A leap second becomes the first second of the next day.
 * @returns null if the text is no such timestamp, or if the year, as written or in UTC, is not from 0001 to 9999
 */
export function parseTimestamp(text: string): Date | null {
  if (text.length > MAX_TIMESTAMP_LENGTH || !isRFC3339(text) || text[10] === ' ') {
    return null;
  }
  const isLeap = text[17] === '6';
  const time = new Date((isLeap ? text.replace(':60', ':59') : text).toUpperCase());
  time.setTime(time.getTime() + (isLeap ? 1_000 : 0));
  // A leap second is valid only at the end of a month in UTC, so `time`, the second after the leap second, must be the
  // first second of a month.
  if (isLeap && !time.toISOString().includes('-01T00:00:00')) {
    return null;
  }
  const [date, year] = [text.slice(0, 10), time.getUTCFullYear()];
  const isInRange = !date.startsWith('0000') && year >= 1 && year <= 9999;
  // Compare the date with the text, because `Date` turns 30 February into a day in March.
  return isInRange && new Date(date).toJSON().startsWith(date) ? time : null;
}
