/**
 * The floors of the architecture, from the ground up: `.dependency-cruiser.cjs` makes rules of them, and
 * `npm run diagrams` draws them. A folder imports only folders of its own floor and of those below; a folder that is on
 * no floor may be imported by the top floor alone. Within a floor there is no circle either.
 */
module.exports = [
  { name: 'shared', folders: ['src/shared'] },
  { name: 'domain', folders: ['src/domain'] },
  { name: 'exchange', folders: ['src/exchange'] },
  {
    name: 'stores',
    folders: [
      'src/event-store',
      'src/read-store',
      'src/records',
      'src/leases',
      'src/blob-store',
      'src/personal-data',
      'src/mongodb',
      'src/sqlite',
      'src/responses',
    ],
  },
  { name: 'projection-engine', folders: ['src/projection-engine', 'src/positions'] },
  { name: 'application', folders: ['src/application'] },
  { name: 'rules', folders: ['commands', 'queries', 'projections', 'src/processes', 'src/process-engine'] },
  {
    name: 'callers',
    folders: [
      'src/http',
      'src/mcp',
      'src/gateway',
      'src/usage',
      'src/webhooks',
      'src/live-feed',
      'src/digests',
      'src/dashboard',
    ],
  },
  { name: 'app', folders: ['src/app'] },
];
