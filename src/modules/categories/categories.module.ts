import { Module } from '@nestjs/common';
import { EventLogModule } from '../events';
import { CategoriesController } from './categories.controller';
import { CategoriesService } from './categories.service';

/** Categories of pets. */
@Module({
  imports: [EventLogModule],
  controllers: [CategoriesController],
  providers: [CategoriesService],
  exports: [CategoriesService],
})
export class CategoriesModule {}
