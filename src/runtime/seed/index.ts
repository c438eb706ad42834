import { Module } from '@nestjs/common';
import { AdministrationModule } from '../../modules/auth';
import { CategoriesModule } from '../../modules/categories';
import { InventoryModule } from '../../modules/inventory';
import { PetsModule } from '../../modules/pets';
import { SeedService } from './seed.service';

export { DEMO_CLIENT, SeedService, type Seeded } from './seed.service';

/** The first things in the store. Inventory takes part because it enters every new pet into the stock. */
@Module({
  imports: [AdministrationModule, CategoriesModule, PetsModule, InventoryModule],
  providers: [SeedService],
  exports: [SeedService],
})
export class SeedModule {}
