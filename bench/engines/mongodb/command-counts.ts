import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Checkout, here } from '#bench/beside/checkout.ts';
import type { Figure } from '#bench/beside/compare.ts';
import { EngineService, newPrefix } from '#bench/engines/service/engine-service.ts';
import { FlowRequests } from '#bench/engines/service/flow-requests.ts';
import { format, print, printTable, type Result } from '#bench/measure.ts';
import { type CommandCount, CountingMongoDbProxy } from '#test/support/service/mongodb-commands.ts';
import { startOwnMongoDb } from '#test/support/service/mongodb-server.ts';

/** How long the nodes rest and are measured, in ms, and how many requests are counted of each kind. */
interface Run {
  readonly settleMs: number;
  readonly restMs: number;
  readonly reads: number;
  readonly writes: number;
  readonly writesTogether: number;
  /** How long a node rests after a burst until its connections are counted. */
  readonly afterBurstMs: number;
}

const wholeRun: Run = {
  settleMs: 10_000,
  restMs: 30_000,
  reads: 1_000,
  writes: 100,
  writesTogether: 320,
  afterBurstMs: 60_000,
};
/** Connections that are idle for 30 s close. */
const quickRun: Run = {
  settleMs: 5_000,
  restMs: 10_000,
  reads: 300,
  writes: 30,
  writesTogether: 96,
  afterBurstMs: 40_000,
};

const flows = 32;
const together = 16;
/** The collections with the records of read models, and with the positions that nodes poll. */
const notDocuments = /^(?:readModel|records$)/;

/** A count with the bounds that it must keep, and the counts of single commands in it. */
type BoundedCount = Result & { readonly rows?: ReadonlyArray<CommandCount> };

/**
 * The commands of MongoDB's protocol that the service sends: a proxy counts them, which knows no TLS and no other
 * members. At rest, for each request of a client that sends one at a time, and of sixteen; and the connections that
 * a node still has a minute after a burst.
 * @param url of an EventStoreDB
 */
export async function commandCounts(url: string, isQuick: boolean): Promise<ReadonlyArray<Result>> {
  const counts = await measure(url, isQuick ? quickRun : wholeRun, here);
  for (const { what, rows = [] } of counts) printCommands(what, rows);
  return counts;
}

/** Returns the same counts as figures of one version. */
export async function commandCountFigures(
  url: string,
  isQuick: boolean,
  checkout: Checkout,
): Promise<ReadonlyArray<Figure>> {
  const counts = await measure(url, isQuick ? quickRun : wholeRun, checkout);
  return counts.map(({ what, figure, unit }) => ({ what, value: figure, unit }));
}

async function measure(url: string, run: Run, checkout: Checkout): Promise<ReadonlyArray<BoundedCount>> {
  await using opened = new AsyncDisposableStack();
  const mongoDb = await startOwnMongoDb();
  opened.defer(() => mongoDb.dispose());
  const proxy = new CountingMongoDbProxy(mongoDb.port);
  opened.defer(() => proxy.close());
  await proxy.listen();
  const readStoreUrl = proxy.through(mongoDb.newUrl());
  const prefix = newPrefix();
  const startNode = async () => {
    const environment = { READ_STORE_URL: readStoreUrl, LOG_LEVEL: 'error' };
    return EngineService.start({ url, prefix }, { environment, checkout });
  };
  const node = await startNode();
  opened.defer(() => node.stop());
  const counts = new Counts(proxy, run);
  const rest = await counts.atRest('commands at rest, each second', { required: 8, aim: 4 });
  const other = await startNode();
  const restOfTwo = await counts
    .atRest('the same, two nodes together', { required: 12, aim: 6 })
    .finally(() => other.stop());
  const requests = new FlowRequests(node.client, await node.createFlows(flows));
  const ofRequests = await counts.ofRequests(requests);
  await sleep(run.afterBurstMs);
  const connections = connectionsTo(Number(new URL(readStoreUrl).port));
  return [
    rest,
    restOfTwo,
    ...ofRequests,
    {
      what: 'connections of an idle node, a while after a burst',
      figure: connections,
      unit: '',
      required: 20,
      aim: 12,
    },
  ];
}

/** Counts the commands of work. */
class Counts {
  readonly #proxy: CountingMongoDbProxy;
  readonly #run: Run;

  constructor(proxy: CountingMongoDbProxy, run: Run) {
    this.#proxy = proxy;
    this.#run = run;
  }

  /** Counts all commands of nodes without requests. */
  async atRest(what: string, bounds: Bounds): Promise<BoundedCount> {
    await sleep(this.#run.settleMs);
    this.#proxy.reset();
    await sleep(this.#run.restMs);
    return countOf(what, this.#proxy.counts(), this.#run.restMs / 1_000, { unit: '/s', ...bounds });
  }

  /** Counts the commands of requests besides those on leases. */
  async ofRequests(requests: FlowRequests): Promise<ReadonlyArray<BoundedCount>> {
    const { reads, writes, writesTogether } = this.#run;
    const ofWrite = { required: 9, aim: 8 };
    const versions: string[] = [];
    const postVersion = async (number: number) => {
      versions.push(await requests.postVersion(number));
    };
    const ofGet = { required: 1.1, aim: 1 };
    const ofList = { required: 2.1, aim: 2 };
    const get = await this.#ofEach('a GET of a flow', reads, ofGet, (number) => requests.get(number));
    const list = await this.#ofEach("a GET of a flow's versions", reads, ofList, (number) =>
      requests.listVersions(number),
    );
    const post = await this.#ofEach('a POST of a version', writes, ofWrite, postVersion);
    return [
      get,
      list,
      post,
      checkpointsOf(post),
      await this.#ofEach('a POST of a flow', writes, ofWrite, (number) => requests.postFlow(number)),
      await this.#ofEach('an activation of a version', writes, ofWrite, (number) =>
        requests.activate(versions[number] ?? ''),
      ),
      await this.#ofEach(
        `a POST of a flow, ${together} at the same time`,
        writesTogether,
        { required: 4, aim: 3 },
        (number) => requests.postFlow(number),
        together,
      ),
    ];
  }

  async #ofEach(
    what: string,
    requests: number,
    bounds: Bounds,
    send: (number: number) => Promise<void>,
    clients = 1,
  ): Promise<BoundedCount> {
    await sleep(this.#run.settleMs / 5);
    this.#proxy.reset();
    let next = 0;
    const client = async () => {
      for (let number = next++; number < requests; number = next++) await send(number);
    };
    await Promise.all(Array.from({ length: clients }, client));
    const counts = this.#proxy.counts().filter(({ collection }) => !/lease/i.test(collection));
    return countOf(`commands of ${what}, besides leases`, counts, requests, { unit: '', ...bounds });
  }
}

interface Bounds {
  readonly required: number;
  readonly aim: number;
}

/** Returns the counts of commands, each divided by the number of requests or seconds. */
function countOf(
  what: string,
  counts: ReadonlyArray<CommandCount>,
  divisor: number,
  bounds: Bounds & { readonly unit: string },
): BoundedCount {
  const rows = counts.map((one) => ({ ...one, count: one.count / divisor }));
  return { what, figure: rows.reduce((sum, { count }) => sum + count, 0), rows, ...bounds };
}

/** Returns the writes of a request that change no document of a read model. */
function checkpointsOf({ rows = [] }: BoundedCount): BoundedCount {
  const written = rows.filter(({ command, collection }) => command === 'update' && notDocuments.test(collection));
  const figure = written.reduce((sum, { count }) => sum + count, 0);
  return { what: 'of these, checkpoints and positions', figure, unit: '', required: 1.1, aim: 1 };
}

function printCommands(what: string, rows: ReadonlyArray<CommandCount>): void {
  if (rows.length === 0) return;
  print(what);
  printTable(
    ['', ''],
    rows.map(({ command, collection, count }) => [`${command} ${collection}`, format(count)]),
  );
  print();
}

/** Returns how many connections to a port of this machine are established, as Linux lists them. */
function connectionsTo(port: number): number {
  const established = '01';
  const remote = port.toString(16).toUpperCase().padStart(4, '0');
  return readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , address, state]) => state === established && address?.endsWith(`:${remote}`)).length;
}
