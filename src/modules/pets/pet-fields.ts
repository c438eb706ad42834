import { oneOf, text } from '#libs/validation';
import { PET_STATUSES } from './pet-status';

/** What the fields of a pet may be, wherever it comes from. */
export const petFields = {
  name: text({ min: 1, max: 200, notBlank: true }),
  status: oneOf(PET_STATUSES),
};
