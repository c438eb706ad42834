import { applyDecorators } from '@nestjs/common';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { ValidateBy, ValidateIf } from 'class-validator';
import { registerField } from './fields';
import type { Rule } from './rules';

interface FieldOptions {
  description: string;
  example?: unknown;
  optional?: boolean;
  /** Accepts null, too: in a JSON Merge Patch it removes the value (RFC 7396). */
  nullable?: boolean;
  default?: unknown;
  /** Name of the shared schema of an enumeration. */
  enumName?: string;
}

/** @param read how the value is read from a query, where everything is text */
function hold(rule: Rule, options: FieldOptions, read = same): PropertyDecorator {
  const accepts = (value: unknown) => (value === null ? options.nullable === true : rule.accepts(value));
  const validate = ValidateBy({
    name: 'rule',
    validator: {
      validate: (value) => accepts(value),
      defaultMessage: (context) => {
        const missing = context?.value === undefined ? 'is required and ' : '';
        return `${context?.property} ${missing}must be ${rule.takes}${options.nullable ? ', or null' : ''}`;
      },
    },
  });
  return (target, property) => {
    validate(target, property);
    const passes = (value: unknown) => (value === undefined && options.optional === true) || accepts(value);
    registerField(target.constructor, { name: String(property), passes, read });
  };
}

function same(value: unknown): unknown {
  return value;
}

function describe(rule: Rule, options: FieldOptions): ApiPropertyOptions {
  const { optional, enumName, ...documented } = options;
  const { enum: values, ...schema } = rule.schema as { enum?: string[] } & Record<string, unknown>;
  return {
    ...schema,
    ...(values ? { enum: values, ...(enumName ? { enumName } : {}) } : {}),
    ...documented,
    required: !optional,
  } as ApiPropertyOptions;
}

/** A field of a body: validated by the rule and documented with it. Absent values pass when the field is optional. */
export function Field(rule: Rule, options: FieldOptions): PropertyDecorator {
  return applyDecorators(
    ApiProperty(describe(rule, options)),
    hold(rule, options),
    ...(options.optional ? [ValidateIf((_object, value) => value !== undefined)] : []),
  );
}

/** A field of a response: documented only. */
export function AnswerField(rule: Rule, options: FieldOptions): PropertyDecorator {
  return ApiProperty(describe(rule, options));
}

function describeRepeatable(rule: Rule, options: FieldOptions, maxItems: number): ApiPropertyOptions {
  const { enumName, description, example } = options;
  if (enumName) {
    // Swagger would leave maxItems out of an array of a shared enumeration.
    const items = { $ref: `#/components/schemas/${enumName}` };
    return { type: 'array', items, maxItems, description, example, required: false };
  }
  return { ...describe(rule, options), required: false, isArray: true, maxItems } as ApiPropertyOptions;
}

/** A query parameter that may occur once. */
export function QueryField(rule: Rule, options: Omit<FieldOptions, 'nullable'>): PropertyDecorator {
  return applyDecorators(
    ApiProperty({ ...describe(rule, options), required: false } as ApiPropertyOptions),
    hold({ ...rule, takes: `${rule.takes}, given once` }, { ...options, optional: true }, (value) =>
      parse(rule, value),
    ),
    ValidateIf((_object, value) => value !== undefined),
  );
}

/** A query parameter that may be repeated (`?id=1&id=2`), up to `maxItems` times. */
export function RepeatableQueryField(
  rule: Rule,
  options: Omit<FieldOptions, 'nullable'> & { maxItems: number },
): PropertyDecorator {
  const { maxItems, ...field } = options;
  const every: Rule = {
    accepts: (value) =>
      Array.isArray(value) && value.length <= maxItems && value.every((item) => rule.accepts(item)),
    takes: `${rule.takes}, given at most ${maxItems} times`,
    schema: rule.schema,
  };
  return applyDecorators(
    ApiProperty(describeRepeatable(rule, field, maxItems)),
    hold(every, { ...field, optional: true }, (value) => [value].flat().map((item) => parse(rule, item))),
    ValidateIf((_object, value) => value !== undefined),
  );
}

function parse(rule: Rule, value: unknown): unknown {
  return typeof value === 'string' && rule.parse ? rule.parse(value) : value;
}
