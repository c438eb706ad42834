import { text } from '#libs/validation';

/** Validation of a category's fields, for requests and imports. */
export const categoryFields = {
  name: text({ min: 1, max: 200, notBlank: true }),
  description: text({ min: 0, max: 2_000 }),
};
