'use strict';

// The import rules. test/unit/architecture/dependencies.spec.ts enforces them and plants a violation of each.
// `npx depcruise --config .dependency-cruiser.cjs src libs` checks them on the command line.

const { readFileSync, readdirSync } = require('node:fs');
const { join } = require('node:path');

/** From the ground up. A file imports only from its own floor and from those below. */
const FLOORS = [
  ['Libraries', '^libs/'],
  ['The settings and the type of a feature', '^src/(settings/|(feature|program|service-access)\\.ts$)'],
  ['Modules and migrations', '^src/(modules|migrations)/'],
  ['The pipeline and its parts', '^src/((store|http)/|(all-settings|features|app\\.module)\\.ts$)'],
  ['Files of the runtime', '^src/runtime/'],
  ['The programs', '^src/(cli/|main\\.ts$)'],
];

const floorRules = FLOORS.slice(0, -1).map(([floor, path], index) => {
  const below = FLOORS.slice(0, index).map(([, lower]) => lower);
  return {
    name: `${floor} import only from below`,
    severity: 'error',
    from: { path, pathNot: below },
    to: { path: '^(src|libs)/', pathNot: [...below, path] },
  };
});

/**
 * The other modules that each module may import, from the `imports.json` in its folder, so that a deleted module takes its
 * rules along. `anyFile` lists those that every file may import, `onlyControllers` those that only its controllers may.
 */
const IMPORTS = readdirSync(join(__dirname, 'src/modules')).map((module) => ({
  module,
  ...JSON.parse(readFileSync(join(__dirname, 'src/modules', module, 'imports.json'), 'utf8')),
}));

/** Only the command line loads the commands of a feature, and what the command `webhooks listen` does. */
const COMMANDS = '(\\.command|/webhooks/listen)\\.ts$';

const PURE = ['^src/modules/quotas/rules/', '/(pet-status|retry-schedule|address-policy)\\.ts$'];

function sentenceOf(module, allowed) {
  return allowed.length === 0
    ? `${module} imports no other module`
    : `${module} imports only ${allowed.join(', ')}`;
}

const moduleRules = IMPORTS.map(({ module, anyFile, onlyControllers }) => ({
  name: sentenceOf(module, [...anyFile, ...onlyControllers]),
  severity: 'error',
  from: { path: `^src/modules/${module}/` },
  to: {
    path: '^src/modules/',
    pathNot: `^src/modules/(${[module, ...anyFile, ...onlyControllers].join('|')})/`,
  },
}));

const controllerRules = IMPORTS.filter(({ onlyControllers }) => onlyControllers.length > 0).map(
  ({ module, onlyControllers }) => ({
    name: `Only controllers of ${module} import ${onlyControllers.join(', ')}`,
    severity: 'error',
    from: { path: `^src/modules/${module}/`, pathNot: '\\.controller\\.ts$' },
    to: { path: `^src/modules/(${onlyControllers.join('|')})/` },
  }),
);

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    ...floorRules,
    ...moduleRules,
    ...controllerRules,
    {
      name: 'A module is imported only through its index',
      severity: 'error',
      from: { path: '^src/(modules/[^/]+/|.*)' },
      to: { path: '^src/modules/', pathNot: ['^src/modules/[^/]+/(index|settings)\\.ts$', '^src/$1'] },
    },
    {
      // A start reads them before it loads anything else.
      name: 'The settings of a feature import no module',
      severity: 'error',
      from: { path: '^src/modules/[^/]+/settings\\.ts$' },
      to: { path: '^src/modules/' },
    },
    {
      // To delete the feature is to delete its folder and its lines there.
      name: 'Only the list of features imports webhooks',
      severity: 'error',
      from: { path: '^(src|libs)/', pathNot: ['^src/modules/', '^src/(all-settings|features)\\.ts$'] },
      to: { path: '^src/modules/webhooks/' },
    },
    {
      name: 'Files of a module do not import its own index',
      severity: 'error',
      from: { path: '^(src/modules/[^/]+|libs/[^/]+/src)/' },
      to: { path: '^$1/index\\.ts$' },
    },
    {
      name: 'The database library does not know http',
      severity: 'error',
      from: { path: '^libs/database/' },
      to: { path: '^libs/http/|node_modules/fastify/' },
    },
    {
      // It could be published by itself.
      name: 'The engine knows neither Nest nor what is built on it',
      severity: 'error',
      from: { path: '^libs/database/src/engine/' },
      to: { path: '^(libs|src)/|node_modules/@nestjs/', pathNot: '^libs/database/src/engine/' },
    },
    {
      name: 'Libraries are imported only as #libs/name',
      severity: 'error',
      from: { path: '^(libs/[^/]+|src)/' },
      to: { path: '^libs/', pathNot: '^$1/', dependencyTypesNot: ['aliased'] },
    },
    {
      // It is published as a separate package, with these dependencies.
      name: 'The SDK imports nothing else',
      severity: 'error',
      from: { path: '^libs/client/src/' },
      to: { pathNot: '^libs/client/src/|node_modules/(openapi-fetch|standardwebhooks)/' },
    },
    {
      name: 'Only commands import the SDK',
      severity: 'error',
      from: { path: '^(src|libs)/', pathNot: ['^libs/client/', COMMANDS] },
      to: { path: '^libs/client/' },
    },
    {
      name: 'There are no circular imports, types and imports on demand included',
      severity: 'error',
      from: { path: '^(src|libs)/' },
      to: { circular: true },
    },
    {
      name: 'Domain rules import neither Nest nor TypeORM',
      severity: 'error',
      from: { path: PURE },
      to: { path: 'node_modules/(@nestjs|typeorm|fastify|pg|ioredis)/' },
    },
    {
      name: 'The rules of quotas import only each other, the clock and a type of auth',
      severity: 'error',
      from: { path: '^src/modules/quotas/rules/' },
      to: { path: '^(src|libs)/', pathNot: '^(src/modules/(quotas/rules/|auth/index)|libs/clock/)' },
    },
    {
      name: 'The rules of quotas import only types of auth',
      severity: 'error',
      from: { path: '^src/modules/quotas/rules/' },
      to: { path: '^src/modules/auth/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'http does not import the application',
      severity: 'error',
      from: { path: '^src/http/' },
      to: { path: '^src/app\\.module\\.ts$' },
    },
    {
      name: 'The counters of quotas import only its rules and entities',
      severity: 'error',
      from: { path: '^src/modules/quotas/counters/' },
      to: {
        path: '^src/modules/quotas/',
        pathNot: '^src/modules/quotas/((rules|counters)/|[^/]+\\.entity)',
      },
    },
    {
      name: 'Migrations import only each other',
      severity: 'error',
      from: { path: '^src/migrations/' },
      to: { path: '^(src|libs)/', pathNot: '^src/migrations/' },
    },
    {
      // A service does not load them.
      name: 'Commands are loaded on demand',
      severity: 'error',
      from: { path: '^src/', pathNot: ['^src/cli/', COMMANDS] },
      to: { path: COMMANDS, dependencyTypesNot: ['dynamic-import'] },
    },
    {
      name: 'Every import can be resolved',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^dist/' },
    // Type imports count, too.
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    webpackConfig: { fileName: 'test/support/resolve-sources.cjs' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['require', 'node', 'default', 'types'],
    },
  },
};
