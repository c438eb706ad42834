import type { BadLines } from './bad-lines';

/** Nothing was imported, because the file has invalid lines. */
export class CatalogueRefusedError extends Error {
  constructor(readonly badLines: BadLines) {
    super('The catalogue has invalid lines.');
  }
}

/** Nothing was imported, because the store already has names of the file. */
export class CatalogueRepeatedError extends Error {
  constructor(readonly repeated: number) {
    super('The store already has names of the catalogue.');
  }
}
