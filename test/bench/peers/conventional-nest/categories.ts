import { Controller, Get, NotFoundException, Param, ParseIntPipe, UseGuards } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { ApiKeyGuard } from './api-key.guard';
import { Category } from './entities';

@Controller('categories')
@UseGuards(ApiKeyGuard)
export class CategoriesController {
  constructor(@InjectRepository(Category) private readonly categories: Repository<Category>) {}

  @Get(':id')
  async findOne(@Param('id', ParseIntPipe) id: number): Promise<Category> {
    const category = await this.categories.findOneBy({ id });
    if (!category) {
      throw new NotFoundException(`There is no category ${id}.`);
    }
    return { ...category, description: category.description ?? undefined };
  }
}
