export { type EmbeddedPostgres, startEmbeddedPostgres } from './embedded-postgres';
export { EmbeddedPostgresError } from './errors';
export type { EmbeddedPostgresOptions } from './options';
export { isPackageInstalled } from './package';
