'use strict';

// Who may know whom. The rules are held by test/unit/architecture/dependencies.spec.ts, which also plants a violation of each;
// `npx depcruise --config .dependency-cruiser.cjs src libs` tells of them on the command line.

/** Modules of the domain, each with the modules that it may know. Controllers may also know auth, for its decorators. */
const KNOWS = {
  orders: ['inventory', 'pets', 'audit'],
  inventory: ['pets'],
  pets: ['categories'],
  categories: [],
  events: [],
  webhooks: ['events', 'audit'],
  catalogue: ['categories', 'pets', 'inventory', 'audit'],
  quotas: ['auth', 'audit'],
  auth: ['audit'],
  audit: [],
  deprecations: [],
};
/** Modules in which something happens: they report it to events. */
const REPORT_EVENTS = ['orders', 'inventory', 'pets', 'categories'];
/** Modules that read the service's settings. */
const READ_SETTINGS = ['quotas', 'deprecations', 'webhooks'];
/** Folders with a face. */
const FOLDER = '(?:modules|runtime)/[^/]+|migrations';
/** `administration.ts` is a second face, for those who run the service: quick to load. */
const INDEX = `^src/(?:(?:${FOLDER})/index|modules/[^/]+/administration)\\.ts$`;
/** Files that load nothing else, so that the command line can print what they say in its help. */
const FACTS = '^src/modules/(quotas/rules/plans|pets/pet-status)\\.ts$';

const PURE = [
  '^src/modules/quotas/rules/',
  '/(order-status|pet-status|catalogue-line|bad-lines|schedule|address-policy|allowances)\\.ts$',
];

function sentenceOf(module, known) {
  return known.length === 0
    ? `${module} knows no other module`
    : `${module} knows ${known.join(' and ')}, and nobody else`;
}

const whoKnowsWhom = Object.entries(KNOWS).map(([module, known]) => ({
  name: sentenceOf(module, known),
  severity: 'error',
  from: { path: `^src/modules/${module}/` },
  to: {
    path: '^src/',
    pathNot: [
      ...[module, ...known].map((name) => `^src/modules/${name}/`),
      ...(REPORT_EVENTS.includes(module) ? ['^src/modules/events/'] : []),
      ...(READ_SETTINGS.includes(module) ? ['^src/settings\\.ts$'] : []),
      // Controllers: the rule "Auth is known for its decorators".
      '^src/modules/auth/',
    ],
  },
}));

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    ...whoKnowsWhom,
    {
      name: 'The store knows auth in its controllers only',
      severity: 'error',
      from: {
        path: '^src/modules/(orders|inventory|pets|categories|events|webhooks|catalogue|deprecations)/',
        pathNot: '\\.controller\\.ts$',
      },
      to: { path: '^src/modules/auth/' },
    },
    {
      name: 'Outsiders know a module by its face only',
      severity: 'error',
      from: { path: `^src/(${FOLDER}/|.*)`, pathNot: '^src/runtime/data-source\\.ts$' },
      to: { path: `^src/(${FOLDER})/`, pathNot: [INDEX, '^src/$1', FACTS] },
    },
    {
      name: 'The data source knows entities and migrations only',
      severity: 'error',
      from: { path: '^src/runtime/data-source\\.ts$' },
      to: { path: '^src/', pathNot: ['\\.entity\\.ts$', '^src/migrations/index\\.ts$'] },
    },
    {
      name: 'Siblings do not import their own face',
      severity: 'error',
      from: { path: `^(src/(?:${FOLDER})|libs/[^/]+/src)/` },
      to: { path: '^$1/index\\.ts$' },
    },
    {
      name: 'Libraries know nothing of the service',
      severity: 'error',
      from: { path: '^libs/' },
      to: { path: '^src/' },
    },
    {
      // `#libs/name` leads to the library's face and nowhere else.
      name: 'Libraries are known by the name #libs only',
      severity: 'error',
      from: { path: '^(libs/[^/]+|src)/' },
      to: { path: '^libs/', pathNot: '^$1/', dependencyTypesNot: ['aliased'] },
    },
    {
      // It is published as a package of its own, and the service is not to load it.
      name: 'The client stands alone: it knows openapi-fetch only',
      severity: 'error',
      from: { path: '^libs/client/src/' },
      to: { pathNot: ['^libs/client/src/', '^node_modules/openapi-fetch/'] },
    },
    {
      name: 'The client stands alone: nobody of the service knows it',
      severity: 'error',
      from: { path: '^(src|libs)/', pathNot: '^libs/client/' },
      to: { path: '^libs/client/' },
    },
    {
      name: 'Nobody imports in a circle',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'Rules of the domain are pure: neither Nest nor TypeORM',
      severity: 'error',
      from: { path: PURE },
      to: { path: 'node_modules/(@nestjs|typeorm|fastify|pg|ioredis)/' },
    },
    {
      name: 'The rules of quotas know nothing but each other',
      severity: 'error',
      from: { path: '^src/modules/quotas/rules/' },
      to: { path: '^(src|libs)/', pathNot: '^src/modules/quotas/rules/' },
    },
    {
      name: 'Modules know neither HTTP nor the runtime',
      severity: 'error',
      from: { path: '^src/modules/' },
      to: { path: '^src/(http|runtime)/' },
    },
    {
      name: 'HTTP does not know the runtime',
      severity: 'error',
      from: { path: '^src/http/' },
      to: { path: '^src/runtime/' },
    },
    {
      name: 'HTTP does not know the application',
      severity: 'error',
      from: { path: '^src/http/' },
      to: { path: '^src/(app\\.module|main)\\.ts$' },
    },
    {
      name: 'Counting knows its rules, and nobody who counts elsewhere',
      severity: 'error',
      from: { path: '^src/modules/quotas/counting/' },
      to: { path: '^src/modules/quotas/(admin|fleet|workers)/' },
    },
    {
      name: 'Nobody imports the command line',
      severity: 'error',
      from: { path: '^(src|libs)/', pathNot: '^src/cli/' },
      to: { path: '^src/cli/' },
    },
    {
      name: 'Every import leads somewhere',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^dist/' },
    // An import of a type is knowledge, too.
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    webpackConfig: { fileName: 'test/support/resolve-sources.cjs' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['require', 'node', 'default', 'types'],
    },
  },
};
