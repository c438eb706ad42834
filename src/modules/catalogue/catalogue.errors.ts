import type { BadLines } from './bad-lines';

/** Lines of the file cannot be imported, so nothing was. */
export class CatalogueRefusedError extends Error {
  constructor(readonly badLines: BadLines) {
    super('The catalogue has bad lines.');
  }
}
