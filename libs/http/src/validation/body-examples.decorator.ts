import { type Type, applyDecorators } from '@nestjs/common';
import { ApiError } from '../errors/api-error';
import { ValidationFailedError } from '../errors';
import { type Examples, documentBodies, documentError } from '../openapi/operation-notes';
import { validated } from './request-validation.pipe';

/** Documents example bodies of this class, and the error for an empty body if the operation refuses one. */
export function BodyExamples(shape: Type<object>, examples: Examples): MethodDecorator {
  const refusal = refusalOf(shape, {});
  return applyDecorators(
    documentBodies(examples),
    ...(refusal === undefined ? [] : [documentError(ValidationFailedError, refusal)]),
  );
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
