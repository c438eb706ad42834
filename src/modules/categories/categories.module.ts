import { Injectable, Module, type OnModuleInit } from '@nestjs/common';
import type { RowChange } from '#libs/database';
import { EventLog, EventLogModule, type Occurrence } from '../events';
import { CategoriesController } from './categories.controller';
import { toCategoryDto } from './categories.dto';
import { BulkCategories, CategoriesService } from './categories.service';
import { Category } from './category.entity';

/** The events of categories. */
@Injectable()
export class CategoryEvents implements OnModuleInit {
  constructor(private readonly log: EventLog) {}

  onModuleInit(): void {
    this.log.report(Category, eventsOf);
  }
}

function eventsOf({ before, after }: RowChange<Category>): Occurrence[] {
  if (after === null) {
    return [{ type: 'category.deleted', data: toCategoryDto(before!) }];
  }
  return [{ type: before === null ? 'category.created' : 'category.updated', data: toCategoryDto(after) }];
}

/** Categories of pets. */
@Module({
  imports: [EventLogModule],
  controllers: [CategoriesController],
  providers: [CategoriesService, CategoryEvents, BulkCategories],
  exports: [BulkCategories, CategoriesService],
})
export class CategoriesModule {}
