import { ERROR_CLASSES } from './error-classes.ts';
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

/** The error in the class of its code; a plain PetStoreError for a code of a newer service. */
export function failureFrom(details: PetStoreErrorDetails, options?: { cause?: unknown }): PetStoreError {
  return new (CLASSES[details.code] ?? PetStoreError)(details, options);
}
