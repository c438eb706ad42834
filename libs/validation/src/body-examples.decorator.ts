import { type Type, applyDecorators } from '@nestjs/common';
import { ApiError } from '#libs/errors';
import { ValidationFailedError } from '#libs/http';
import { type Examples, documentBodies, documentError } from '#libs/openapi';
import { validated } from './request-validation.pipe';

/** Documents bodies of this class to start from, and how the operation refuses one that is empty, if it does. */
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
