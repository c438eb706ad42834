import { defineError } from '#libs/http';

export const CategoryNotFoundError = defineError({
  code: 'category_not_found',
  status: 404,
  when: 'No category has this id.',
  message: (categoryId: number) => `There is no category ${categoryId}.`,
  example: [7],
});

export const CategoryInUseError = defineError({
  code: 'category_in_use',
  status: 409,
  when: 'Pets still belong to the category.',
  message: (categoryId: number) =>
    `Pets still belong to category ${categoryId}. Move or delete them first: GET /pets?categoryId=${categoryId}.`,
  example: [7],
});
