import {
  type ArgumentMetadata,
  Injectable,
  Param,
  type PipeTransform,
  type Type,
  applyDecorators,
} from '@nestjs/common';
import { ApiParam, ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { ValidateBy, ValidateIf, type ValidationError, validateSync } from 'class-validator';
import { ApiError, ValidationFailedError } from './errors';
import { type Examples, Documented, errorWith } from './operation';
import { type Rule, resourceId } from './rules';

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
        return `${context?.property} ${missing}must be ${rule.expected}${options.nullable ? ', or null' : ''}`;
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
export function ResponseField(rule: Rule, options: FieldOptions): PropertyDecorator {
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
    hold({ ...rule, expected: `${rule.expected}, given once` }, { ...options, optional: true }, (value) =>
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
    expected: `${rule.expected}, given at most ${maxItems} times`,
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

// The fields of a class, as its decorators declare them. class-validator is used only to word the errors: most values are
// valid, and a direct check is faster.

interface DeclaredField {
  name: string;
  /** True for a valid value. */
  passes: (value: unknown) => boolean;
  /** Reads the value from a query, where everything is text. */
  read: (value: unknown) => unknown;
}

const optionalBodies = new WeakSet<object>();
const declared = new Map<object, DeclaredField[]>();
const all = new Map<object, ReadonlyMap<string, DeclaredField>>();

function registerField(shape: object, field: DeclaredField): void {
  declared.set(shape, [...(declared.get(shape) ?? []), field]);
}

/** For the class of a body: a request without one is as one with an empty object. */
export function OptionalBody(): ClassDecorator {
  return (shape) => void optionalBodies.add(shape);
}

function isOptionalBody(shape: object): boolean {
  return optionalBodies.has(shape);
}

/** The fields of a class and of those that it extends, by name. */
function declaredFieldsOf(shape: object): ReadonlyMap<string, DeclaredField> {
  let fields = all.get(shape);
  if (fields === undefined) {
    const parent = Object.getPrototypeOf(shape) as object | null;
    const inherited =
      parent === null || parent === Function.prototype ? [] : declaredFieldsOf(parent).values();
    const own = declared.get(shape) ?? [];
    fields = new Map([...own, ...inherited].map((field) => [field.name, field]));
    all.set(shape, fields);
  }
  return fields;
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
  const fields = declaredFieldsOf(shape);
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

@Injectable()
class IdPipe implements PipeTransform<string, number> {
  constructor(private readonly name: string) {}

  transform(text: string): number {
    const id = resourceId.parse!(text);
    if (!resourceId.accepts(id)) {
      throw new ValidationFailedError(invalidId(this.name));
    }
    return id as number;
  }
}

function invalidId(name: string): string {
  return `${name} must be ${resourceId.expected}.`;
}

/** Parameter decorator: an identifier in the path, as a number. Anything else is 400 `validation_failed`. */
export function IdParam(name: string, description: string): ParameterDecorator {
  return (target, key, index) => {
    Param(name, new IdPipe(name))(target, key, index);
    const descriptor = Object.getOwnPropertyDescriptor(target, key!)!;
    ApiParam({ name, description, required: true, schema: { ...resourceId.schema, example: 1 } } as never)(
      target,
      key!,
      descriptor,
    );
    Documented({ errors: [errorWith(ValidationFailedError, invalidId(name))] })(target, key!, descriptor);
  };
}

/** Documents example bodies of this class, and the error for an empty body if the operation refuses one. */
export function BodyExamples(shape: Type<object>, examples: Examples): MethodDecorator {
  const refusal = refusalOf(shape, {});
  const errors = refusal === undefined ? [] : [errorWith(ValidationFailedError, refusal)];
  return Documented({ bodies: examples, errors });
}

function refusalOf(shape: Type<object>, body: object): string | undefined {
  try {
    validated(shape, body);
    return undefined;
  } catch (error) {
    if (error instanceof ApiError) {
      return error.message;
    }
    throw error;
  }
}
