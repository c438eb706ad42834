'use strict';

// The database of DATABASE_URL for TypeORM's command line, as `npm run build` has compiled its entities:
// docs/development/how-to.md says how a migration is generated.
const { join } = require('node:path');
const { DataSource } = require('typeorm');
const { dataSourceOptions } = require('../dist/src/runtime/data-source.js');

const COMPILED = join(__dirname, '../dist');

exports.dataSource = new DataSource({
  ...dataSourceOptions(process.env.DATABASE_URL, 1),
  entities: [
    join(COMPILED, 'src/modules/**/{*.entity,audit-trail,deprecated-calls,idempotency-records}.js'),
    join(COMPILED, 'src/runtime/presence.js'),
  ],
});
