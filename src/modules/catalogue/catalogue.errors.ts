import type { BadLines } from './bad-lines';

/** Lines of the file cannot be imported, so nothing was. */
export class CatalogueRefusedError extends Error {
  constructor(readonly badLines: BadLines) {
    super('The catalogue has bad lines.');
  }
}

/** The store has names of the file already, so nothing was imported. */
export class CatalogueRepeatedError extends Error {
  constructor(readonly repeated: number) {
    super('The catalogue has names that the store has already.');
  }
}
