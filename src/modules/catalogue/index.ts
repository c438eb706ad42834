import { Module } from '@nestjs/common';
import { CategoriesModule } from '../categories';
import { InventoryModule } from '../inventory';
import { PetsModule } from '../pets';
import { ExportCatalogue } from './export-catalogue';
import { ImportCatalogue } from './import-catalogue';
import { SeedCatalogue } from './seed-catalogue';

export { type CatalogueSize, ExportCatalogue } from './export-catalogue';
export { ImportCatalogue, type ImportProgress, ImportStoppedError } from './import-catalogue';
export { SeedCatalogue } from './seed-catalogue';

/** Import and export of the whole catalogue. */
@Module({
  imports: [CategoriesModule, PetsModule, InventoryModule],
  providers: [ImportCatalogue, ExportCatalogue, SeedCatalogue],
  exports: [ImportCatalogue, ExportCatalogue, SeedCatalogue],
})
export class CatalogueTransferModule {}
