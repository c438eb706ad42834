import { ERROR_CLASSES } from './generated/error-classes.ts';
import {
  NoAnswerError,
  PetStoreError,
  type PetStoreErrorCode,
  type PetStoreErrorDetails,
  UnexpectedAnswerError,
} from './errors.ts';

const CLASSES: Partial<Record<PetStoreErrorCode, typeof PetStoreError>> = {
  ...ERROR_CLASSES,
  no_answer: NoAnswerError,
  unexpected_answer: UnexpectedAnswerError,
};

/** An error of the class for its code; a plain PetStoreError for a code that only a newer service knows. */
export function failureFrom(details: PetStoreErrorDetails, options?: { cause?: unknown }): PetStoreError {
  return new (CLASSES[details.code] ?? PetStoreError)(details, options);
}
