'use strict';

// `npm run build` runs this script last. The script bundles the command line into one file, because loading its two
// thousand separate files takes twice as long as loading the bundle.
const { join } = require('node:path');

/**
 * Modules that stay outside of the bundle. The module of the OpenAPI document reads files that lie next to it. `pg`
 * must stay the same copy that TypeORM loads, because the settings that commands make on `pg` must apply to TypeORM.
 * `prettier` and `typescript` are large.
 */
const NOT_FOR_COMMANDS = ['./openapi-document.js', 'pg', 'prettier', 'typescript'];
/**
 * Packages that Nest loads only if an application has installed and uses them. They stay outside of the bundle, too.
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
