import { Module } from '@nestjs/common';
import { ExportCatalogue } from './export-catalogue';
import { ImportCatalogue } from './import-catalogue';

/** Import and export of the whole catalogue. */
@Module({
  providers: [ImportCatalogue, ExportCatalogue],
  exports: [ImportCatalogue, ExportCatalogue],
})
export class CatalogueTransferModule {}
