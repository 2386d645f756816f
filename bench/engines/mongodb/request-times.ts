import { type Checkout, here } from '#bench/beside/checkout.ts';
import type { Figure } from '#bench/beside/compare.ts';
import { EngineService, newPrefix } from '#bench/engines/service/engine-service.ts';
import { FlowRequests } from '#bench/engines/service/flow-requests.ts';
import { format, median, print, printTable } from '#bench/measure.ts';
import { startMongoDb } from '#test/support/service/mongodb-server.ts';
import { BareDriver } from './bare-driver.ts';

/** The duration of each part: long for figures to publish, short to check that the benchmark works. */
const wholeRun = { rounds: 7, roundMs: 4_000 };
const quickRun = { rounds: 3, roundMs: 2_000 };

const flows = 64;
const together = 16;
/** A p50 of a `POST` is at most this much of the other version's. */
const maxPostRatio = 0.5;

type Call = (number: number) => Promise<unknown>;

/** A kind of request, sent by some clients at the same time. */
interface Kind {
  readonly what: string;
  readonly clients: number;
  readonly isPost: boolean;
  readonly send: (requests: FlowRequests) => Call;
  /** The same work by the bare clients. */
  readonly bare: (driver: BareDriver) => Call;
}

const version = { made: 2, changed: 3 };
const flow = { made: 4, changed: 1 };

const kinds: ReadonlyArray<Kind> = [
  {
    what: 'GET of a flow',
    clients: 1,
    isPost: false,
    send: (requests) => (number) => requests.get(number),
    bare: (driver) => (number) => driver.readFlow(number),
  },
  {
    what: "GET of a flow's versions",
    clients: 1,
    isPost: false,
    send: (requests) => (number) => requests.listVersions(number),
    bare: (driver) => (number) => driver.readVersions(number),
  },
  {
    what: 'POST of a version',
    clients: 1,
    isPost: true,
    send: (requests) => (number) => requests.postVersion(number),
    bare: (driver) => (number) => driver.write(number, version),
  },
  {
    what: `POST of a version, ${together} at the same time`,
    clients: together,
    isPost: true,
    send: (requests) => (number) => requests.postVersion(number),
    bare: (driver) => (number) => driver.write(number, version),
  },
  {
    what: `POST of a flow, ${together} at the same time`,
    clients: together,
    isPost: true,
    send: (requests) => (number) => requests.postFlow(number),
    bare: (driver) => (number) => driver.write(number, flow),
  },
];

/**
 * Measures requests of one node on EventStoreDB and MongoDB beside the bare clients doing the same work, in turns of
 * changing order: reads by the same filters; for a write an append, and as many bulk writes as read models change.
 * @param url of an EventStoreDB
 */
export async function requestTimes(url: string, isQuick: boolean): Promise<void> {
  await using opened = new AsyncDisposableStack();
  const mongoDb = await startMongoDb();
  opened.defer(() => mongoDb.dispose());
  const requests = await startRequests(url, mongoDb.newUrl(), here, opened);
  const driver = await BareDriver.open(url, mongoDb.newUrl(), flows);
  opened.defer(() => driver.close());
  const rows: string[][] = [];
  for (const { what, clients, send, bare } of kinds) {
    const [own, bareTimes] = await inTurn([send(requests), bare(driver)], clients, isQuick);
    const ratio = median(own.durations) / median(bareTimes.durations);
    rows.push([what, ...cellsOf(own), ...cellsOf(bareTimes), `${format(ratio)} ×`]);
  }
  print('Requests on EventStoreDB and MongoDB, beside the bare clients doing the same work');
  printTable(['', 'p50', 'a second', 'bare p50', 'a second', 'p50 of bare'], rows);
  print();
}

/** Returns the same times as figures of one version. */
export async function requestFigures(
  url: string,
  isQuick: boolean,
  checkout: Checkout,
): Promise<ReadonlyArray<Figure>> {
  await using opened = new AsyncDisposableStack();
  const mongoDb = await startMongoDb();
  opened.defer(() => mongoDb.dispose());
  const requests = await startRequests(url, mongoDb.newUrl(), checkout, opened);
  const figures: Figure[] = [];
  for (const { what, clients, isPost, send } of kinds) {
    const { roundMs } = isQuick ? quickRun : wholeRun;
    const times = new Times();
    await warmUp(send(requests), clients, roundMs);
    await times.measure(send(requests), clients, roundMs);
    const bound = isPost ? { maxRatio: maxPostRatio } : {};
    figures.push(
      { what: `p50 of a ${what}`, value: median(times.durations), unit: ' ms', ...bound },
      { what: `${what}, a second`, value: times.perSecond, unit: '/s' },
    );
  }
  return figures;
}

async function startRequests(
  url: string,
  readStoreUrl: string,
  checkout: Checkout,
  opened: AsyncDisposableStack,
): Promise<FlowRequests> {
  const environment = { READ_STORE_URL: readStoreUrl, LOG_LEVEL: 'error' };
  const service = await EngineService.start({ url, prefix: newPrefix() }, { environment, checkout });
  opened.defer(() => service.stop());
  return new FlowRequests(service.client, await service.createFlows(flows));
}

/** Sends calls that do not count. */
function warmUp(call: Call, clients: number, roundMs: number): Promise<void> {
  return new Times().measure(call, clients, roundMs / 4);
}

/** Measures two kinds of calls, after a warm-up, in turns whose order changes. */
async function inTurn(calls: readonly [Call, Call], clients: number, isQuick: boolean): Promise<[Times, Times]> {
  const { rounds, roundMs } = isQuick ? quickRun : wholeRun;
  const times: [Times, Times] = [new Times(), new Times()];
  for (const call of calls) await warmUp(call, clients, roundMs);
  for (let round = 0; round < rounds; round += 1)
    for (const turn of round % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const))
      await times[turn].measure(calls[turn], clients, roundMs);
  return times;
}

/** How long calls take. */
class Times {
  readonly durations: number[] = [];
  #number = 0;
  #ms = 0;

  get perSecond(): number {
    return (this.durations.length / this.#ms) * 1_000;
  }

  /** Keeps clients busy for a time. */
  async measure(call: Call, clients: number, milliseconds: number): Promise<void> {
    const began = performance.now();
    const client = async () => {
      while (performance.now() - began < milliseconds) {
        const sent = performance.now();
        await call(this.#number++);
        this.durations.push(performance.now() - sent);
      }
    };
    await Promise.all(Array.from({ length: clients }, client));
    this.#ms += performance.now() - began;
  }
}

function cellsOf(times: Times): string[] {
  return [`${format(median(times.durations))} ms`, `${format(times.perSecond)}/s`];
}
