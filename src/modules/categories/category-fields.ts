import { text } from '#libs/validation';

/** What the fields of a category may be, wherever it comes from. */
export const categoryFields = {
  name: text({ min: 1, max: 200, notBlank: true }),
  description: text({ min: 0, max: 2_000 }),
};
