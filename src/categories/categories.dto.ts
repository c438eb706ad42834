import { ApiSchema } from '@nestjs/swagger';
import { PageQuery } from '#libs/paging';
import { AnswerField, Field, QueryField, identifier, text } from '#libs/validation';
import type { Category } from './category.entity';

export const categoryName = text({ min: 1, max: 200, notBlank: true });
const description = text({ min: 0, max: 2_000 });

@ApiSchema({ name: 'NewCategory' })
export class NewCategoryDto {
  @Field(categoryName, { description: 'Category name (for instance a kind of animal).', example: 'Dogs' })
  name!: string;

  @Field(description, {
    description: 'Short description of the category.',
    example: 'Loyal, loud and always hungry.',
    optional: true,
  })
  description?: string;
}

@ApiSchema({ name: 'Category' })
export class CategoryDto {
  @AnswerField(categoryName, {
    description: 'Category name (for instance a kind of animal).',
    example: 'Dogs',
  })
  name!: string;

  @AnswerField(description, {
    description: 'Short description of the category.',
    example: 'Loyal, loud and always hungry.',
    optional: true,
  })
  description?: string;

  @AnswerField(identifier, { description: 'Unique identifier assigned on creation.', example: 1 })
  id!: number;
}

export class ListCategoriesQuery extends PageQuery {
  @QueryField(text({ min: 1, max: 200 }), {
    description: 'Only categories whose name begins with this, in upper or lower case.',
    example: 'do',
  })
  name?: string;
}

export function toCategoryDto({ id, name, description: about }: Category): CategoryDto {
  return { id, name, ...(about === null ? {} : { description: about }) };
}
