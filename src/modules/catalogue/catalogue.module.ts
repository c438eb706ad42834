import { Module } from '@nestjs/common';
import { ExportCatalogue } from './export-catalogue';
import { ImportCatalogue } from './import-catalogue';
import { SeedCatalogue } from './seed-catalogue';

/** Import, export and seeding of the whole catalogue. */
@Module({
  providers: [ImportCatalogue, ExportCatalogue, SeedCatalogue],
  exports: [ImportCatalogue, ExportCatalogue, SeedCatalogue],
})
export class CatalogueTransferModule {}
