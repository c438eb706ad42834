import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { Feature } from '../../feature';
import { CategoriesController } from './categories.controller';
import { CATEGORIES_TABLE, CategoriesService } from './categories.service';
import { Category } from './category.entity';

export { CategoriesService, CategoryRows } from './categories.service';
export { NewCategoryDto } from './categories.dto';

@Module({
  imports: [TypeOrmModule.forFeature([Category])],
  controllers: [CategoriesController],
  providers: [CategoriesService],
  exports: [CategoriesService],
})
export class CategoriesModule {}

export const CATEGORIES: Feature = { module: CategoriesModule, tables: [CATEGORIES_TABLE] };
