import { Module } from '@nestjs/common';
import { CategoriesModule } from '../categories';
import { InventoryModule } from '../inventory';
import { PetsModule } from '../pets';
import { ExportCatalogue } from './export-catalogue';
import { ImportCatalogue } from './import-catalogue';

/** Whole catalogues, on their way into the store and out of it. */
@Module({
  imports: [CategoriesModule, PetsModule, InventoryModule],
  providers: [ImportCatalogue, ExportCatalogue],
  exports: [ImportCatalogue, ExportCatalogue],
})
export class CatalogueTransferModule {}
