/** The import rules of docs/architecture.md, held in CI. */
const lib = (name) => `^libs/${name}/`;
const only = (from, allowed) => ({
  name: `${from}-imports`,
  severity: 'error',
  comment: `libs/${from} may import ${allowed.length ? allowed.join(', ') : 'no other lib'}.`,
  from: { path: lib(from), pathNot: '(spec|contract)\\.ts$|/test/' },
  to: { path: '^libs/', pathNot: [from, ...allowed].map(lib) },
});

module.exports = {
  forbidden: [
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } } },
    { name: 'could-not-resolve', severity: 'error', from: {}, to: { couldNotResolve: true } },
    { name: 'no-lib-to-app', severity: 'error', from: { path: '^libs/' }, to: { path: '^apps/' } },
    {
      name: 'no-app-to-app',
      severity: 'error',
      comment: 'standalone composes the other apps in one process; nothing else may import an app.',
      from: { path: '^apps/([^/]+)/', pathNot: '^apps/standalone/' },
      to: { path: '^apps/', pathNot: '^apps/$1/' },
    },
    {
      name: 'libs-through-index',
      severity: 'error',
      from: { path: '^(apps|test|bench)/|^libs/([^/]+)/' },
      to: { path: '^libs/[^/]+/src/(?!index\\.ts$)', pathNot: '^libs/$1/' },
    },
    {
      name: 'redis-alone-imports-ioredis',
      severity: 'error',
      from: { path: '^(apps|libs|test|bench)/', pathNot: '^libs/(redis|testing)/' },
      to: { path: 'node_modules/ioredis' },
    },
    {
      name: 'testing-only-in-tests',
      severity: 'error',
      from: { path: '^(apps|libs)/', pathNot: '(spec|contract)\\.ts$|^libs/testing/|/test/' },
      to: { path: '^libs/testing/' },
    },
    {
      name: 'pure-files',
      severity: 'error',
      comment: 'Algorithms and the matcher: types only; no Nest, no I/O.',
      from: { path: '^libs/(rate-limiter/src/algorithms|rules/src/(matcher|canonical-path|partition))', pathNot: 'spec\\.ts$' },
      to: { path: ['node_modules/(@nestjs|ioredis|undici)', '^(fs|net|http|timers)'] },
    },
    only('rules', []),
    only('identity', []),
    only('redis', []),
    only('rate-limiter', ['redis']),
    only('admission', ['rules', 'rate-limiter']),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      conditionNames: ['source', 'import', 'node', 'default'],
      exportsFields: ['exports'],
      extensions: ['.ts', '.js', '.json'],
    },
  },
};
