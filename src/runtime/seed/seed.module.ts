import { Module } from '@nestjs/common';
import { AdministrationModule } from '../../modules/auth';
import { CategoriesModule } from '../../modules/categories';
import { InventoryModule } from '../../modules/inventory';
import { PetsModule } from '../../modules/pets';
import { SeedService } from './seed.service';

/** The first things in the store. */
@Module({
  imports: [AdministrationModule, CategoriesModule, PetsModule, InventoryModule],
  providers: [SeedService],
  exports: [SeedService],
})
export class SeedModule {}
