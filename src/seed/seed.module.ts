import { Module } from '@nestjs/common';
import { AdministrationModule } from '../auth';
import { CategoriesModule } from '../categories';
import { InventoryModule } from '../inventory';
import { PetsModule } from '../pets';
import { SeedService } from './seed.service';

/** The first things in the store. Inventory takes part because it enters every new pet into the stock. */
@Module({
  imports: [AdministrationModule, CategoriesModule, PetsModule, InventoryModule],
  providers: [SeedService],
  exports: [SeedService],
})
export class SeedModule {}
