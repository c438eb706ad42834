'use strict';

// The import rules. test/unit/architecture/dependencies.spec.ts enforces them and plants a violation of each.
// `npx depcruise --config .dependency-cruiser.cjs src libs` checks them on the command line.

/**
 * Each domain module with the modules that it may import. Controllers may also import auth and idempotency, for their decorators.
 * The import of a catalogue sends its commands as keyed requests.
 */
const MAY_IMPORT = {
  orders: ['inventory', 'pets', 'audit'],
  inventory: ['pets'],
  pets: ['categories'],
  categories: [],
  events: [],
  webhooks: ['auth', 'events', 'audit'],
  catalogue: ['categories', 'pets', 'inventory', 'audit', 'idempotency'],
  quotas: ['auth', 'audit'],
  auth: ['audit'],
  audit: [],
  deprecations: [],
  idempotency: ['auth'],
};
/** Modules that report events. */
const REPORT_EVENTS = ['orders', 'inventory', 'pets', 'categories'];
const READ_SETTINGS = ['quotas', 'deprecations', 'webhooks'];
/** Folders that are imported only through their index. */
const FOLDER = '(?:modules|runtime)/[^/]+';
const INDEX = `^src/(?:${FOLDER})/index\\.ts$`;

/** Commands are part of the command line, and may use every module's face. */
const COMMANDS = '\\.command\\.ts$';

const PURE = ['^src/modules/quotas/rules/', '/(pet-status|retry-schedule|address-policy)\\.ts$'];

function sentenceOf(module, allowed) {
  return allowed.length === 0
    ? `${module} imports no other module`
    : `${module} imports only ${allowed.join(' and ')}`;
}

const moduleRules = Object.entries(MAY_IMPORT).map(([module, allowed]) => ({
  name: sentenceOf(module, allowed),
  severity: 'error',
  from: { path: `^src/modules/${module}/`, pathNot: COMMANDS },
  to: {
    path: '^src/',
    pathNot: [
      ...[module, ...allowed].map((name) => `^src/modules/${name}/`),
      ...(REPORT_EVENTS.includes(module) ? ['^src/modules/events/'] : []),
      ...(READ_SETTINGS.includes(module) ? ['^src/settings\\.ts$'] : []),
      // Separate rules restrict the imports of these paths.
      '^src/modules/(auth|idempotency)/',
      '^src/(feature|program)\\.ts$',
      '^src/cli/',
    ],
  },
}));

const modulesWithoutAuth = Object.keys(MAY_IMPORT).filter(
  (module) => module !== 'auth' && !MAY_IMPORT[module].includes('auth'),
);

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    ...moduleRules,
    {
      name: 'Modules import auth and idempotency in controllers only',
      severity: 'error',
      from: {
        path: `^src/modules/(${modulesWithoutAuth.join('|')})/`,
        pathNot: ['\\.controller\\.ts$', '/import-catalogue\\.ts$', COMMANDS],
      },
      to: { path: '^src/modules/(auth|idempotency)/' },
    },
    {
      name: 'A module is imported only through its index',
      severity: 'error',
      from: { path: `^src/(${FOLDER}/|.*)` },
      to: { path: `^src/(${FOLDER})/`, pathNot: [INDEX, COMMANDS, '^src/$1'] },
    },
    {
      name: 'Files of a module do not import its own index',
      severity: 'error',
      from: { path: `^(src/(?:${FOLDER})|libs/[^/]+/src)/` },
      to: { path: '^$1/index\\.ts$' },
    },
    {
      name: 'Libraries do not import the service',
      severity: 'error',
      from: { path: '^libs/' },
      to: { path: '^src/' },
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
      name: 'The service does not import the SDK',
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
      name: 'The rules of quotas import only each other',
      severity: 'error',
      from: { path: '^src/modules/quotas/rules/' },
      to: { path: '^(src|libs)/', pathNot: '^src/modules/quotas/rules/' },
    },
    {
      name: 'Modules import neither http nor runtime',
      severity: 'error',
      from: { path: '^src/modules/', pathNot: COMMANDS },
      to: { path: '^src/(http|runtime)/' },
    },
    {
      name: 'http does not import runtime',
      severity: 'error',
      from: { path: '^src/http/' },
      to: { path: '^src/runtime/' },
    },
    {
      name: 'http does not import the application',
      severity: 'error',
      from: { path: '^src/http/' },
      to: { path: '^src/(app\\.module|main)\\.ts$' },
    },
    {
      name: 'The stores of quotas import only its rules and entities',
      severity: 'error',
      from: { path: '^src/modules/quotas/stores/' },
      to: {
        path: '^src/modules/quotas/',
        pathNot: '^src/modules/quotas/((rules|stores)/|quotas\\.entity)',
      },
    },
    {
      name: 'Migrations import only each other',
      severity: 'error',
      from: { path: '^src/migrations/' },
      to: { path: '^(src|libs)/', pathNot: '^src/migrations/' },
    },
    {
      name: 'Settings import only libraries and the readers of the environment',
      severity: 'error',
      from: { path: '^src/settings\\.ts$' },
      to: { path: '^src/', pathNot: '^src/runtime/(environment|database-url)\\.ts$' },
    },
    {
      name: 'Nothing else imports the command line',
      severity: 'error',
      from: { path: '^(src|libs)/', pathNot: ['^src/cli/', COMMANDS] },
      to: { path: '^src/cli/' },
    },
    {
      // A service does not load them.
      name: 'Commands are loaded on demand',
      severity: 'error',
      from: { path: '^src/', pathNot: ['^src/cli/', COMMANDS] },
      to: { path: COMMANDS, dependencyTypesNot: ['dynamic-import'] },
    },
    {
      name: 'A feature is a type for modules, and the list of features is above them',
      severity: 'error',
      from: { path: '^src/(modules/|feature\\.ts$)' },
      to: { path: '^src/features\\.ts$' },
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
