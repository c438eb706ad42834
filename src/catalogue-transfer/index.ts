export type { BadLines } from './bad-lines';
export { CatalogueRefusedError } from './catalogue-transfer.errors';
export { CatalogueTransferModule } from './catalogue-transfer.module';
export { type CatalogueSize, ExportCatalogue } from './export-catalogue';
export { ImportCatalogue, type ImportResult } from './import-catalogue';
