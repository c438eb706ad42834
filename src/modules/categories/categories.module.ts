import { Module } from '@nestjs/common';
import { BulkCategories } from './bulk-categories';
import { CategoriesController } from './categories.controller';
import { CategoriesService } from './categories.service';

/** What kinds of animals there are. */
@Module({
  controllers: [CategoriesController],
  providers: [CategoriesService, BulkCategories],
  exports: [BulkCategories, CategoriesService],
})
export class CategoriesModule {}
