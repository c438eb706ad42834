'use strict';

// The database of DATABASE_URL for TypeORM's command line, with the entities that the features of the built application declare:
// docs/development/how-to.md says how a migration is generated.
require('reflect-metadata');
const { DataSource, getMetadataArgsStorage } = require('typeorm');
const { dataSourceOptions } = require('../dist/src/store/data-source.js');

require('../dist/src/features.js');

exports.dataSource = new DataSource({
  ...dataSourceOptions(process.env.DATABASE_URL, { poolSize: 1 }),
  entities: getMetadataArgsStorage().tables.map(({ target }) => target),
});
