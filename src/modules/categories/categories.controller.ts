import { Body, Controller, Delete, Get, Post, Put, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { CommandExecutor, Idempotent, type Origin, SentBy } from '#libs/commands';
import { Created, IfMatch, Precondition, SingleResource } from '#libs/http';
import { Operation } from '#libs/openapi';
import { MAX_PAGE_SIZE, Paged, type Page } from '#libs/paging';
import { BodyExamples, IdParam } from '#libs/validation';
import { RequiresScope } from '../auth';
import { CategoryInUseError, CategoryNotFoundError } from './categories.errors';
import { CategoryDto, ListCategoriesQuery, NewCategoryDto, toCategoryDto } from './categories.dto';
import { CategoriesService } from './categories.service';
import { createCategory, deleteCategory, replaceCategory } from './change-categories';

const EXAMPLE: CategoryDto = { id: 1, name: 'Dogs', description: 'Loyal, loud and always hungry.' };
const BODIES = {
  described: {
    summary: 'With a description',
    value: { name: 'Dogs', description: 'Loyal, loud and always hungry.' },
  },
  named: { summary: 'Only what is required', value: { name: 'Dogs' } },
};
const CATEGORY_ID = 'Identifier of the category (Category.id).';

@ApiTags('Categories')
@Controller('categories')
export class CategoriesController {
  constructor(
    private readonly categories: CategoriesService,
    private readonly commands: CommandExecutor,
  ) {}

  @Get()
  @RequiresScope('read')
  @Paged()
  @Operation({
    id: 'listCategories',
    summary: 'List categories',
    description:
      'Categories in ascending id, a page at a time: the next one is where `Link` with `rel="next"` says.',
    answer: {
      description: 'One page of categories.',
      type: CategoryDto,
      maxItems: MAX_PAGE_SIZE,
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
    description:
      'The service assigns the id. Names need not be unique. Send an `Idempotency-Key` to be able to retry.',
    answer: { status: 201, description: 'The category was created.', type: CategoryDto, example: EXAMPLE },
  })
  @BodyExamples(NewCategoryDto, BODIES)
  create(@Body() body: NewCategoryDto, @SentBy() origin: Origin): Promise<CategoryDto> {
    return this.commands.run(createCategory(body), origin);
  }

  @Get(':categoryId')
  @RequiresScope('read')
  @SingleResource()
  @Operation({
    id: 'getCategory',
    summary: 'Get a category',
    description:
      'One category by its id. Its `ETag` is what `If-Match` takes in a change, and `If-None-Match` in the next read.',
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
  @BodyExamples(NewCategoryDto, BODIES)
  replace(
    @IdParam('categoryId', CATEGORY_ID) categoryId: number,
    @Body() body: NewCategoryDto,
    @IfMatch() precondition: Precondition,
    @SentBy() origin: Origin,
  ): Promise<CategoryDto> {
    return this.commands.run(replaceCategory(categoryId, body, precondition), origin);
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
  delete(
    @IdParam('categoryId', CATEGORY_ID) categoryId: number,
    @IfMatch() precondition: Precondition,
    @SentBy() origin: Origin,
  ): Promise<void> {
    return this.commands.run(deleteCategory(categoryId, precondition), origin);
  }
}
