/** DESIGN.md's arrows: which side may know which. */
const compositionRoots = '^src/(main|compose|projector|open-[a-z-]+)\\.ts$|^src/command-line/';
const adapters =
  '^src/(event-store|read-store)/(sqlite|eventstoredb|mongodb)/|^src/processes/(sqlite|mongodb)-|^src/leases/mongodb-|^src/blob-store/(folder|gridfs)|^src/subject-keys/(sqlite|mongodb)-|^src/data-directory\\.ts$';

module.exports = {
  forbidden: [
    {
      name: 'no-circles',
      comment: 'Files that import each other in a loop have no top to read from.',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'domain-without-io',
      comment: 'The domain is pure: no I/O, no other folder (hashing is computing, not I/O).',
      severity: 'error',
      from: { path: '^src/domain' },
      to: {
        path: '^(commands|queries|projections|src/(?!domain/|json\\.ts$))|^(fs|net|http|https|http2|child_process|worker_threads|dgram|tls|cluster|sqlite)(/|$)|node_modules/(koa|undici|mongodb|pino|@eventstore)',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'application-knows-no-adapter',
      comment:
        'What is between a caller and the ports serves every caller: it knows neither Koa nor HTTP nor the gateway.',
      severity: 'error',
      from: { path: '^src/application' },
      to: { path: '^src/(http|gateway)|node_modules/(koa|@koa|koa-body)' },
    },
    {
      name: 'commands-know-no-reading-side',
      comment: 'Writing and reading meet through events alone.',
      severity: 'error',
      from: { path: '^commands' },
      to: { path: '^(projections|queries)' },
    },
    {
      name: 'reading-side-knows-no-event-store',
      comment: 'Queries and projections see events only as they are handed to them.',
      severity: 'error',
      from: { path: '^(queries|projections)' },
      to: { path: '^(commands|src/event-store)', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'gateway-is-stateless',
      comment: 'The gateway knows neither commands nor the event store; it is handed a usage port.',
      severity: 'error',
      from: { path: '^src/gateway' },
      to: { path: '^(commands|src/event-store)' },
    },
    {
      name: 'gateway-knows-no-http-server',
      comment: 'A gateway call reads a body source and writes to a response sink: of these HTTP is one adapter.',
      severity: 'error',
      from: { path: '^src/gateway/' },
      to: { path: '^src/http/|node_modules/(koa|@koa|koa-body)(/|$)' },
    },
    {
      name: 'application-knows-no-transport',
      comment: 'What happens between a caller and the ports knows neither Koa, HTTP nor the gateway.',
      severity: 'error',
      from: { path: '^src/application/' },
      to: { path: '^src/(http|gateway)/|node_modules/(koa|@koa|koa-body|undici)(/|$)' },
    },
    {
      name: 'adapters-named-at-the-root',
      comment: 'Only the composition roots name concrete stores.',
      severity: 'error',
      from: { pathNot: `${compositionRoots}|${adapters}` },
      to: { path: adapters },
    },
    {
      name: 'no-orphans',
      comment: 'A file that nothing imports is dead, but for entry points.',
      severity: 'error',
      from: { orphan: true, pathNot: compositionRoots },
      to: {},
    },
    { name: 'resolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      name: 'declared-dependencies',
      comment: 'What runs in production is in dependencies.',
      severity: 'error',
      from: {},
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'], pathNot: 'node_modules/@types' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
    },
  },
};
