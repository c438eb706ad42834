import { ApiSchema } from '@nestjs/swagger';
import { defineError, Id, PageQuery, Text } from '#libs/http';
import type { Category } from './category.entity';

@ApiSchema({ name: 'NewCategory', description: 'The body to create or replace a category.' })
export class NewCategoryDto {
  @Text({
    isName: true,
    min: 1,
    max: 200,
    notBlank: true,
    description: 'Category name (for instance a kind of pet).',
    example: 'Dogs',
  })
  name!: string;

  @Text({
    max: 2_000,
    description: 'Short description of the category.',
    example: 'Loyal, loud and always hungry.',
    optional: true,
  })
  description?: string;
}

@ApiSchema({
  name: 'Category',
  description: 'A category that pets belong to. `description` is left out if it is not set.',
})
export class CategoryDto extends NewCategoryDto {
  @Id({ description: 'Unique identifier assigned on creation.', example: 1 })
  id!: number;
}

export class ListCategoriesQuery extends PageQuery {
  @Text({
    isName: true,
    min: 1,
    max: 200,
    times: 1,
    description: 'Only categories whose name starts with this text, ignoring case.',
    example: 'do',
  })
  name?: string;
}

export function toCategoryDto({ id, name, description }: Category): CategoryDto {
  return { id, name, ...(description === null ? {} : { description }) };
}

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
