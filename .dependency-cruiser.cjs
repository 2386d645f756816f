/**
 * Which folder may import which (docs/architecture.md shows it). A rule names folders, never files, but for the entry
 * points and for adapters of one file, which have the name of their port and of their store: `blob-store.gridfs.ts`.
 */
const adapter =
  'src/.+/(?:sqlite|mongodb|eventstoredb|folder|gridfs)/|src/.+\\.(?:sqlite|mongodb|eventstoredb|folder|gridfs)\\.ts$';
const adapters = `^(?:${adapter})`;
const entryPoints =
  '^src/main\\.ts$|^src/cli/[^/]+\\.ts$|^src/projection-engine/hosting/thread-entry\\.ts$|^examples/demo/demo\\.ts$|-thread\\.ts$|preload\\.mjs$|switchyard-mcp\\.mjs$|^src/http/docs/start\\.js$';
const anyProject = '^(src|commands|queries|projections)/';

const floors = require('./.dependency-floors.cjs');

/** One rule for each floor. The top floor is src/cli and src/main.ts, which only start what src/app puts together. */
const floorRules = floors.map(({ name, folders }, height) => {
  const upTo = floors.slice(0, height + 1).flatMap((floor) => floor.folders);
  return {
    name: `no-floor-above-${name}`,
    comment: 'Imports point down, of types too. An entry point puts a thread together.',
    severity: 'error',
    from: { path: `^(${folders.join('|')})/`, pathNot: entryPoints },
    to: { path: anyProject, pathNot: `^(${upTo.join('|')})/` },
  };
});

const rooms = require('./.dependency-rooms.cjs');

const roomRules = Object.entries(rooms).flatMap(([folder, order]) =>
  order.map((room, height) => ({
    name: `no-room-above-${room}-in-${folder}`,
    comment: 'Rooms of a folder have an order too.',
    severity: 'error',
    from: { path: `^${folder}/${room}/`, pathNot: entryPoints },
    to: { path: `^${folder}/(${order.slice(height + 1).join('|') || '(?!)'})/` },
  })),
);

module.exports = {
  forbidden: [
    ...floorRules,
    {
      name: 'tools-are-on-top',
      comment: 'No service needs a tool of the command line, and no thread of it either.',
      severity: 'error',
      from: { path: anyProject, pathNot: '^src/(cli/|main\\.ts$)' },
      to: { path: '^src/(cli/|main\\.ts$)' },
    },
    ...roomRules,
    {
      name: 'no-circles',
      comment: 'Files that import each other in a loop, of types either, have no top to read from.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'domain-without-io',
      comment: 'The domain is pure: no I/O (hashing is computing, not I/O).',
      severity: 'error',
      from: { path: '^src/domain/' },
      to: {
        path: '^(fs|net|http|https|http2|child_process|worker_threads|dgram|tls|cluster|sqlite)(/|$)|node_modules/(koa|@koa|undici|mongodb|pino|@eventstore)',
      },
    },
    {
      name: 'application-knows-no-transport',
      comment: 'What happens between a caller and the ports knows neither Koa nor a client of HTTP.',
      severity: 'error',
      from: { path: '^(src/application|commands|queries|projections)/' },
      to: { path: 'node_modules/(koa|@koa|koa-body|undici)' },
    },
    {
      name: 'read-store-knows-no-engine',
      comment: 'The read store is a port: what fills it and what queries it depend on it. Its notes are records.',
      severity: 'error',
      from: { path: '^src/read-store/' },
      to: { path: '^src/(?!read-store/|domain/|shared/|mongodb/|records/)' },
    },
    {
      name: 'only-the-tail-reads-pages',
      comment: 'Whoever follows the log is a follower of the tail, which reads each event once.',
      severity: 'error',
      from: {
        path: anyProject,
        pathNot:
          '^src/cli/|^src/event-store/(log-(tail|trail|comparison|feed|follower|window)\\.ts|change-notifications\\.ts|sqlite/|eventstoredb/)',
      },
      to: { path: '^src/event-store/log-pages\\.ts$' },
    },
    {
      name: 'commands-know-no-reading-side',
      comment: 'Writing and reading meet through events alone.',
      severity: 'error',
      from: { path: '^commands/' },
      to: { path: '^(projections|queries)/' },
    },
    {
      name: 'reading-side-knows-no-event-store',
      comment: 'Queries and projections see events only as they are handed to them.',
      severity: 'error',
      from: { path: '^(queries|projections)/' },
      to: { path: '^(commands|src/event-store)/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'neutral-knows-no-gateway',
      comment: 'The neutral form of conversations and answers is data: protocols know it, and it knows none of them.',
      severity: 'error',
      from: { path: '^src/gateway/neutral/' },
      to: { path: '^src/(?!gateway/neutral/|shared/)' },
    },
    {
      name: 'no-protocol-imports-another',
      comment: 'Two protocols meet in the neutral form alone, so that a new one is a new folder.',
      severity: 'error',
      from: { path: '^src/gateway/protocols/([^/]+)/' },
      to: { path: '^src/gateway/protocols/[^/]+/', pathNot: '^src/gateway/protocols/$1/' },
    },
    {
      name: 'gateway-is-stateless',
      comment: 'The gateway knows neither commands nor the event store; it receives a usage port.',
      severity: 'error',
      from: { path: '^src/gateway/' },
      to: { path: '^(commands|src/event-store)/' },
    },
    {
      name: 'gateway-knows-no-http-server',
      comment: 'A gateway call reads a body source and writes to a response sink: of these HTTP is one adapter.',
      severity: 'error',
      from: { path: '^src/gateway/' },
      to: { path: '^src/http/|node_modules/(koa|@koa|koa-body)(/|$)' },
    },
    {
      name: 'mcp-knows-no-http-server',
      comment: 'MCP, too, reads a body source and writes to a response sink, and asks operations alone.',
      severity: 'error',
      from: { path: '^src/mcp/' },
      to: {
        path: '^(commands|queries|projections|src/(http|gateway|event-store))/|node_modules/(koa|@koa|koa-body)(/|$)',
      },
    },
    {
      name: 'page-runs-in-a-browser',
      comment: 'What a browser loads imports its own files and the packages that are served with it.',
      severity: 'error',
      from: { path: '^src/dashboard/page/' },
      to: {
        pathNot: '^src/dashboard/page/|node_modules/(preact|htm|uplot|fast-myers-diff)/',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'page-reads-records',
      comment: 'The page takes the types of records from the domain, and imports no value of it.',
      severity: 'error',
      from: { path: '^src/dashboard/page/' },
      to: { path: anyProject, pathNot: '^src/(dashboard/page|domain)/' },
    },
    {
      name: 'only-the-browser-loads-the-page',
      comment: 'The service serves the files of the page and runs none of them.',
      severity: 'error',
      from: { path: anyProject, pathNot: '^src/dashboard/page/' },
      to: { path: '^src/dashboard/page/' },
    },
    {
      name: 'live-feed-knows-no-http-server',
      comment: 'A feed writes to a response sink: of these HTTP is one adapter.',
      severity: 'error',
      from: { path: '^src/live-feed/' },
      to: { path: '^(commands|src/(http|gateway|mcp))/|node_modules/(koa|@koa|koa-body)(/|$)' },
    },
    {
      name: 'adapters-are-named-in-the-composition',
      comment: 'Only src/app/stores, the command line tools and the entry points name concrete stores.',
      severity: 'error',
      from: { path: anyProject, pathNot: `${entryPoints}|^src/(app/stores|cli)/|${adapters}` },
      to: { path: adapters },
    },
    {
      name: 'no-adapter-imports-another',
      comment: 'An adapter shares code with another only through its port or src/mongodb.',
      severity: 'error',
      from: { path: `^(${adapter})` },
      to: { path: adapters, pathNot: '^$1' },
    },
    {
      name: 'no-orphans',
      comment: 'A file that nothing imports is dead, but for entry points.',
      severity: 'error',
      from: { orphan: true, pathNot: entryPoints },
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
