import { oneOf, text } from '#libs/validation';
import { PET_STATUSES } from './pet-status';

/** Validation of a pet's fields, for requests and imports. */
export const petFields = {
  name: text({ min: 1, max: 200, notBlank: true }),
  status: oneOf(PET_STATUSES),
};
