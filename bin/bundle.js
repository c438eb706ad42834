'use strict';

// `npm run build` runs this script last. The script bundles the command line into one file, because loading its two
// thousand separate files takes twice as long as loading the bundle.
const { join } = require('node:path');

/**
 * Modules that stay outside of the bundle. `openapi-document.js` reads files that lie next to it. Commands change
 * settings of `pg`, so commands and TypeORM must load the same copy of `pg`. `prettier` and `typescript` would make the
 * bundle much larger.
 */
const NOT_FOR_COMMANDS = ['./openapi-document.js', 'pg', 'prettier', 'typescript'];
/**
 * Packages that Nest loads only if an application uses them. They are not installed, so the bundle cannot contain them.
 */
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
  // Keep the names of classes, because Nest and TypeORM read these names.
  keepNames: true,
  external: [...NOT_FOR_COMMANDS, ...OPTIONAL],
  // Take the SDK from its source. The build of the service leaves the SDK out, because only commands use the SDK.
  alias: { '#libs/client': join(__dirname, '../libs/client/src/index.ts') },
  logLevel: 'error',
});
