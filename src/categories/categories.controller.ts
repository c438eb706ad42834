import { Body, Controller, Delete, Get, Post, Put, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Transaction } from '#libs/database';
import { Created, IfMatch, Precondition, SingleResource } from '#libs/http';
import { Idempotent, OpenTransaction } from '#libs/idempotency';
import { Operation } from '#libs/openapi';
import { Paged, type Page } from '#libs/paging';
import { IdParam } from '#libs/validation';
import { RequiresScope } from '../auth';
import { CategoryInUseError, CategoryNotFoundError } from './categories.errors';
import { CategoryDto, ListCategoriesQuery, NewCategoryDto, toCategoryDto } from './categories.dto';
import { CategoriesService } from './categories.service';

const EXAMPLE: CategoryDto = { id: 1, name: 'Dogs', description: 'Loyal, loud and always hungry.' };
const CATEGORY_ID = 'Identifier of the category (Category.id).';

@ApiTags('Categories')
@Controller('categories')
export class CategoriesController {
  constructor(private readonly categories: CategoriesService) {}

  @Get()
  @RequiresScope('read')
  @Paged()
  @Operation({
    id: 'listCategories',
    summary: 'List categories',
    description: 'Categories in ascending id, a page at a time.',
    answer: {
      description: 'One page of categories.',
      type: CategoryDto,
      isArray: true,
      example: [EXAMPLE],
    },
  })
  async list(@Query() query: ListCategoriesQuery): Promise<Page<CategoryDto>> {
    const page = await this.categories.list(query);
    return { ...page, entries: page.entries.map(toCategoryDto) };
  }

  @Post()
  @RequiresScope('write')
  @Idempotent()
  @Created('/categories')
  @SingleResource()
  @Operation({
    id: 'createCategory',
    summary: 'Create a category',
    description: 'Names need not be unique.',
    answer: { status: 201, description: 'The category was created.', type: CategoryDto, example: EXAMPLE },
  })
  async create(
    @Body() body: NewCategoryDto,
    @OpenTransaction() transaction?: Transaction,
  ): Promise<CategoryDto> {
    return toCategoryDto(await this.categories.create(body, transaction));
  }

  @Get(':categoryId')
  @RequiresScope('read')
  @SingleResource()
  @Operation({
    id: 'getCategory',
    summary: 'Get a category',
    description: 'One category by its id.',
    answer: { description: 'The category.', type: CategoryDto, example: EXAMPLE },
    errors: [CategoryNotFoundError],
  })
  async get(@IdParam('categoryId', CATEGORY_ID) categoryId: number): Promise<CategoryDto> {
    return toCategoryDto(await this.categories.get(categoryId));
  }

  @Put(':categoryId')
  @RequiresScope('write')
  @SingleResource()
  @Operation({
    id: 'replaceCategory',
    summary: 'Replace a category',
    description: 'Sets name and description; a description that is left out is removed.',
    answer: { description: 'The category as it is now.', type: CategoryDto, example: EXAMPLE },
    errors: [CategoryNotFoundError],
  })
  async replace(
    @IdParam('categoryId', CATEGORY_ID) categoryId: number,
    @Body() body: NewCategoryDto,
    @IfMatch() precondition: Precondition,
  ): Promise<CategoryDto> {
    return toCategoryDto(await this.categories.replace(categoryId, body, precondition));
  }

  @Delete(':categoryId')
  @RequiresScope('write')
  @Operation({
    id: 'deleteCategory',
    summary: 'Delete a category',
    description: 'Only a category that no pet belongs to can be deleted.',
    answer: { status: 204, description: 'The category is gone.' },
    errors: [CategoryNotFoundError, CategoryInUseError],
  })
  async delete(
    @IdParam('categoryId', CATEGORY_ID) categoryId: number,
    @IfMatch() precondition: Precondition,
  ): Promise<void> {
    await this.categories.delete(categoryId, precondition);
  }
}
