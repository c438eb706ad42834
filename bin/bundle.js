'use strict';

// The service and its commands as one file, made by `npm run build`: loading two thousand files takes twice as long.
const { join } = require('node:path');

/**
 * The document reads files next to its own. Tracing changes the drivers when they are loaded. What is set for `pg` must
 * reach the copy that TypeORM loads. The other packages are large.
 */
const NOT_IN_BUNDLE = [
  './openapi-document.js',
  '@opentelemetry/*',
  'ioredis',
  'pg',
  'prettier',
  'typescript',
];
/** Nest loads them where they are installed and used. */
const OPTIONAL = [
  '@fastify/static',
  '@fastify/view',
  '@nestjs/microservices',
  '@nestjs/platform-express',
  '@nestjs/websockets',
  'class-transformer',
];

const source = join(__dirname, '../dist/src');
require('esbuild').buildSync({
  stdin: {
    contents: `exports.server = () => require('./main.js'); exports.command = () => require('./cli/main.js');`,
    resolveDir: source,
  },
  outfile: join(source, 'cli/petstore.js'),
  bundle: true,
  platform: 'node',
  target: 'node20',
  // Without `keepNames`, which would name each function that a request creates again, for a third of its processor time.
  external: [...NOT_IN_BUNDLE, ...OPTIONAL],
  // Only commands use the SDK, which the build of the service leaves out.
  alias: { '#libs/client': join(__dirname, '../libs/client/src/index.ts') },
  logLevel: 'error',
});
