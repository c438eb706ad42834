import { Module } from '@nestjs/common';
import { CategoriesModule } from '../categories';
import { InventoryModule } from '../inventory';
import { PetsModule } from '../pets';
import { ExportCatalogue } from './export-catalogue';
import { ImportCatalogue } from './import-catalogue';
import { SeedCatalogue } from './seed-catalogue';

/** Whole catalogues, on their way into the store and out of it. */
@Module({
  imports: [CategoriesModule, PetsModule, InventoryModule],
  providers: [ImportCatalogue, ExportCatalogue, SeedCatalogue],
  exports: [ImportCatalogue, ExportCatalogue, SeedCatalogue],
})
export class CatalogueTransferModule {}
