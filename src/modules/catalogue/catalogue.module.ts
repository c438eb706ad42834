import { Module } from '@nestjs/common';
import { CategoriesModule } from '../categories';
import { InventoryModule } from '../inventory';
import { PetsModule } from '../pets';
import { ExportCatalogue } from './export-catalogue';
import { ImportCatalogue } from './import-catalogue';
import { SeedCatalogue } from './seed-catalogue';

/** Import, export and seeding of the whole catalogue. */
@Module({
  imports: [CategoriesModule, PetsModule, InventoryModule],
  providers: [ImportCatalogue, ExportCatalogue, SeedCatalogue],
  exports: [ImportCatalogue, ExportCatalogue, SeedCatalogue],
})
export class CatalogueTransferModule {}
