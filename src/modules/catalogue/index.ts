export type { BadLines } from './bad-lines';
export { CatalogueRefusedError, CatalogueRepeatedError } from './catalogue.errors';
export { CatalogueTransferModule } from './catalogue.module';
export { type CatalogueSize, ExportCatalogue } from './export-catalogue';
export { ImportCatalogue, type ImportResult } from './import-catalogue';
export { SeedCatalogue } from './seed-catalogue';
