'use strict';

// The command line as one file, made last by `npm run build`: loading two thousand files takes twice as long.
const { join } = require('node:path');

/**
 * The document reads files next to its own. What is set for `pg` must reach the copy that TypeORM loads. The other packages
 * are large.
 */
const NOT_FOR_COMMANDS = ['./openapi-document.js', 'pg', 'prettier', 'typescript'];
/** Nest loads them where they are installed and used. */
const OPTIONAL = [
  '@fastify/static',
  '@fastify/view',
  '@nestjs/microservices',
  '@nestjs/platform-express',
  '@nestjs/websockets',
  'class-transformer',
];

const folder = join(__dirname, '../dist/src/cli');
require('esbuild').buildSync({
  entryPoints: [join(folder, 'main.js')],
  outfile: join(folder, 'petstore.js'),
  bundle: true,
  platform: 'node',
  target: 'node20',
  // Nest and TypeORM need class names.
  keepNames: true,
  external: [...NOT_FOR_COMMANDS, ...OPTIONAL],
  // Only commands use the SDK, which the build of the service leaves out.
  alias: { '#libs/client': join(__dirname, '../libs/client/src/index.ts') },
  logLevel: 'error',
});
