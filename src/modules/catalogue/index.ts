import { Module } from '@nestjs/common';
import type { Feature } from '../../feature';
import { CategoriesModule } from '../categories';
import { InventoryModule } from '../inventory';
import { PetsModule } from '../pets';
import { ExportCatalogue } from './export-catalogue';
import { ImportCatalogue } from './import-catalogue';

export type { CatalogueCounts } from './catalogue-format';
export { ImportCatalogue };

@Module({
  imports: [CategoriesModule, PetsModule, InventoryModule],
  providers: [ImportCatalogue, ExportCatalogue],
  exports: [ImportCatalogue, ExportCatalogue],
})
class CatalogueModule {}

export const CATALOGUE: Feature = {
  module: CatalogueModule,
  cliCommands: async () => {
    const { ImportCommand, ExportCommand } = await import('./catalogue.command.js');
    return [ImportCommand, ExportCommand];
  },
};
