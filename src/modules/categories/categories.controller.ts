import { Body, Controller, Delete, Get, Post, Put, Query } from '@nestjs/common';
import type { CallerId, CommandSource } from '#libs/database';
import { IdParam, Operation, Tag, exampleOf } from '#libs/http';
import { ClientId, ScopeByMethod } from '../auth';
import { Source, SendsCommands } from '../writes';
import {
  CategoryDto,
  CategoryInUseError,
  CategoryNotFoundError,
  ListCategoriesQuery,
  NewCategoryDto,
} from './categories.dto';
import { CategoriesService } from './categories.service';

const CategoryId = (example?: number) =>
  IdParam('categoryId', 'Identifier of the category (Category.id).', example);

@Tag({ place: 20, name: 'Categories', description: 'The categories that pets belong to.', parent: 'Pets' })
@Controller('categories')
@ScopeByMethod()
@SendsCommands()
export class CategoriesController {
  constructor(private readonly categories: CategoriesService) {}

  @Get()
  @Operation({
    id: 'listCategories',
    summary: 'List categories',
    description:
      'Returns a page of categories, sorted by id, or with a `name` by lower-case name and id. `Link` leads to the next page. A page ends early before it grows past 256 KiB.',
    response: { description: 'One page of categories.', page: CategoryDto },
  })
  list(@Query() query: ListCategoriesQuery, @ClientId() clientId: CallerId) {
    return this.categories.list(query, clientId);
  }

  @Post()
  @Operation({
    id: 'createCategory',
    summary: 'Create a category',
    description:
      'The service assigns the id. Names need not be unique. Send an `Idempotency-Key` to make the request safe to retry.',
    response: {
      status: 201,
      description: 'The category was created.',
      resource: CategoryDto,
      example: { id: 7, ...exampleOf(NewCategoryDto) },
    },
  })
  create(@Body() body: NewCategoryDto, @Source() source: CommandSource) {
    return this.categories.create(body, source);
  }

  @Get(':categoryId')
  @Operation({
    id: 'getCategory',
    summary: 'Get a category',
    description:
      'Returns one category. Send its `ETag` as `If-Match` with a change, or as `If-None-Match` with the next read.',
    response: { description: 'The category.', resource: CategoryDto },
    errors: [CategoryNotFoundError],
  })
  get(@CategoryId() categoryId: number, @ClientId() clientId: CallerId) {
    return this.categories.get(categoryId, clientId);
  }

  @Put(':categoryId')
  @Operation({
    id: 'replaceCategory',
    summary: 'Replace a category',
    description: 'Replaces name and description. Without a `description` the old one is removed.',
    response: { description: 'The updated category.', resource: CategoryDto },
    errors: [CategoryNotFoundError],
  })
  replace(@CategoryId() categoryId: number, @Body() body: NewCategoryDto, @Source() source: CommandSource) {
    return this.categories.replace(categoryId, body, source);
  }

  @Delete(':categoryId')
  @Operation({
    id: 'deleteCategory',
    summary: 'Delete a category',
    description: 'Deletes a category that no pet belongs to.',
    errors: [CategoryNotFoundError, CategoryInUseError],
  })
  delete(@CategoryId(7) categoryId: number, @Source() source: CommandSource) {
    return this.categories.delete(categoryId, source);
  }
}
