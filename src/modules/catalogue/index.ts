export type { BadLines } from './catalogue-stage';
export {
  CatalogueRefusedError,
  CatalogueRepeatedError,
  ImportCatalogue,
  type ImportResult,
} from './import-catalogue';
export { CatalogueTransferModule } from './catalogue.module';
export { type CatalogueSize, ExportCatalogue } from './export-catalogue';
export { seedCatalogue } from './seed-catalogue';
