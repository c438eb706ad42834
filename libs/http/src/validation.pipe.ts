import { type ArgumentMetadata, Injectable, Param, type PipeTransform, type Type } from '@nestjs/common';
import { ApiParam, DECORATORS } from '@nestjs/swagger';
import {
  type ValidationError,
  type ValidatorOptions,
  getMetadataStorage,
  validateSync,
} from 'class-validator';
import { ValidationFailedError } from './errors';
import { EXPECTED_ID, ID_SCHEMA, isId } from './fields';

/** How many problems are reported; more would only hide the first ones. */
const MAX_PROBLEMS = 5;

// class-validator would walk all classes for each object to find the rules of its class: half of the time that it takes.
const storage = getMetadataStorage();
const findRules = storage.getTargetValidationMetadatas.bind(storage);
const rules = new Map<unknown, ReturnType<typeof findRules>>();
storage.getTargetValidationMetadatas = (shape, ...options) => {
  const found = rules.get(shape) ?? findRules(shape, ...options);
  rules.set(shape, found);
  return found;
};

const optionalBodies = new WeakSet<object>();

/** For the class of a body: a request without one is as one with an empty object. */
export function OptionalBody(): ClassDecorator {
  return (shape) => void optionalBodies.add(shape);
}

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
    const shape = metatype as Type<object>;
    if (type === 'query') {
      return validated(shape, value as object, true);
    }
    const body = value === undefined && optionalBodies.has(shape) ? {} : value;
    if (typeof body !== 'object' || body === null || Array.isArray(body)) {
      throw new ValidationFailedError('The request needs a body, and it must be a JSON object.');
    }
    return validated(shape, body);
  }
}

const OPTIONS: ValidatorOptions = {
  whitelist: true,
  forbidNonWhitelisted: true,
  stopAtFirstError: true,
  validationError: { target: false, value: false },
};

/**
 * An instance of the class with the value's fields.
 * @param isText true if all values are text, as in a query
 * @throws ApiError 400 `validation_failed`
 */
export function validated<Shape extends object>(shape: Type<Shape>, value: object, isText = false): Shape {
  const instance = new shape() as Record<string, unknown>;
  const inherited: string[] = [];
  for (const [name, given] of Object.entries(value)) {
    // class-validator would take some names that every object inherits for known ones.
    if (name in Object.prototype) {
      inherited.push(name);
    } else {
      instance[name] = isText ? read(shape, name, given) : given;
    }
  }
  const errors = validateSync(instance, OPTIONS);
  if (inherited.length > 0 || errors.length > 0) {
    const unknown = inherited.map((property) => ({ property, constraints: { [UNKNOWN]: '' } }));
    throw new ValidationFailedError(listed([...unknown, ...errors], shape));
  }
  return instance as Shape;
}

/** What class-validator calls the error of an unknown field. */
const UNKNOWN = 'whitelistValidation';

function listed(errors: Pick<ValidationError, 'property' | 'constraints'>[], shape: Type<object>): string {
  const problems = errors.slice(0, MAX_PROBLEMS).map(({ property, constraints = {} }) => {
    return UNKNOWN in constraints ? unknownField(property, shape) : Object.values(constraints)[0];
  });
  const more = errors.length > MAX_PROBLEMS ? [`${errors.length - MAX_PROBLEMS} more`] : [];
  return `${[...problems, ...more].join('; ')}.`;
}

function unknownField(name: string, shape: Type<object>): string {
  const fields = storage.getTargetValidationMetadatas(shape, '', false, false);
  const names = new Set(fields.map(({ propertyName }) => propertyName));
  return `${quoted(name)} is not allowed here (allowed: ${[...names].join(', ')})`;
}

/** A name chosen by the caller, made safe for a message. */
export function quoted(name: string): string {
  const short = name.length > 40 ? `${name.slice(0, 40)}…` : name;
  return JSON.stringify(short.toWellFormed());
}

/** Reads a query parameter as the type that its field documents. Text that cannot be read so stays as it is. */
function read(shape: Type<object>, name: string, given: unknown): unknown {
  const { type, isArray } = (Reflect.getMetadata(
    DECORATORS.API_MODEL_PROPERTIES,
    shape.prototype as object,
    name,
  ) ?? {}) as { type?: string; isArray?: boolean };
  return isArray || type === 'array' ? [given].flat().map((item) => parse(item, type)) : parse(given, type);
}

function parse(given: unknown, type: string | undefined): unknown {
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
