import { Module } from '@nestjs/common';
import type { Feature } from '../../features';
import { CategoriesModule } from '../categories';
import { InventoryModule } from '../inventory';
import { PetsModule } from '../pets';
import { CatalogueFormat } from './catalogue-format';
import { ExportCatalogue } from './export-catalogue';
import { ImportCatalogue } from './import-catalogue';
import { SeedCatalogue } from './seed-catalogue';

export { CATALOGUE_LISTS, CatalogueFormat, type CatalogueList, CatalogueSize } from './catalogue-format';
export { ExportCatalogue } from './export-catalogue';
export { ImportCatalogue, type ImportProgress, ImportStoppedError } from './import-catalogue';
export { SeedCatalogue } from './seed-catalogue';

/** Import and export of the whole catalogue. */
@Module({
  imports: [CategoriesModule, PetsModule, InventoryModule],
  providers: [CatalogueFormat, ImportCatalogue, ExportCatalogue, SeedCatalogue],
  exports: [CatalogueFormat, ImportCatalogue, ExportCatalogue, SeedCatalogue],
})
export class CatalogueModule {}

export const CATALOGUE: Feature = {
  module: CatalogueModule,
  commands: async () => {
    const { ImportCommand, ExportCommand } = await import('./catalogue.command.js');
    return [ImportCommand, ExportCommand];
  },
};
