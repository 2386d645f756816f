import { readFileSync } from 'node:fs';
import autocannon from 'autocannon';

/** The load to send, read as JSON from the standard input. */
export interface Load {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  /** The requests, which the connections send in turn. */
  readonly paths: ReadonlyArray<string>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly connections: number;
  readonly seconds: number;
}

/** The result, printed as JSON. */
export interface LoadResult {
  readonly perSecond: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** The number of unsuccessful answers and requests without an answer. */
  readonly failed: number;
}

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
