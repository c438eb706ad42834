import { Module } from '@nestjs/common';
import { EventLogModule } from '../events';
import { BulkCategories } from './bulk-categories';
import { CategoriesController } from './categories.controller';
import { CategoriesService } from './categories.service';
import { CategoryEvents } from './category-events';

/** Categories of pets. */
@Module({
  imports: [EventLogModule],
  controllers: [CategoriesController],
  providers: [CategoriesService, CategoryEvents, BulkCategories],
  exports: [BulkCategories, CategoriesService],
})
export class CategoriesModule {}
