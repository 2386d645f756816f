import { readFileSync } from 'node:fs';
import autocannon from 'autocannon';
import type { Load, LoadResult } from '../http-processes/load.ts';

const load = JSON.parse(readFileSync(0, 'utf8')) as Load;
let clients = 0;

const result = await autocannon({
  url: load.url,
  connections: load.connections,
  duration: load.seconds,
  setupClient: (client) => {
    const share = load.paths.filter((_, index) => index % load.connections === clients % load.connections);
    clients += 1;
    client.setRequests(
      (share.length > 0 ? share : load.paths).map((path) => ({
        method: load.method,
        path,
        headers: { ...load.headers },
        ...(load.body === null ? {} : { body: load.body }),
      })),
    );
  },
});

const outcome: LoadResult = {
  perSecond: result.requests.average,
  p99Ms: result.latency.p99,
  maxMs: result.latency.max,
  failed: result.non2xx + result.errors,
};
process.stdout.write(JSON.stringify(outcome));
