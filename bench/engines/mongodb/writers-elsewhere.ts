import { type Checkout, here } from '#bench/beside/checkout.ts';
import type { Figure } from '#bench/beside/compare.ts';
import { EngineService, newPrefix } from '#bench/engines/service/engine-service.ts';
import { FlowRequests } from '#bench/engines/service/flow-requests.ts';
import { format, median, print, type Result } from '#bench/measure.ts';
import { startMongoDb } from '#test/support/service/mongodb-server.ts';

const writers = 32;
const flows = 64;
const wholeMs = 20_000;
const quickMs = 5_000;
/** Maximum time that an answer waits for read models. */
const longestWaitMs = 1_000;

const late = `POSTs that wait their whole second, ${writers} writers on the node that does not project`;

/**
 * Sends versions from many clients to a node while another one makes the read models, and counts the answers that took a
 * second or longer.
 * @param url of an EventStoreDB
 */
export async function writersElsewhere(url: string, isQuick: boolean): Promise<ReadonlyArray<Result>> {
  const durations = await postElsewhere(url, isQuick, here);
  const lateOnes = lateAmong(durations);
  print(
    `${writers} writers on the node that does not project: p50 ${format(median(durations))} ms; ${lateOnes} of ${durations.length} POSTs took a second or longer`,
  );
  return [{ what: late, figure: lateOnes, unit: '', required: 0.5, aim: 0 }];
}

/** Returns the same as figures of one version. */
export async function writersElsewhereFigures(
  url: string,
  isQuick: boolean,
  checkout: Checkout,
): Promise<ReadonlyArray<Figure>> {
  const durations = await postElsewhere(url, isQuick, checkout);
  return [
    { what: late, value: (lateAmong(durations) / durations.length) * 100, unit: ' %' },
    { what: 'the p50 of these POSTs', value: median(durations), unit: ' ms' },
  ];
}

function lateAmong(durations: ReadonlyArray<number>): number {
  return durations.filter((ms) => ms >= longestWaitMs).length;
}

/** @returns how long each `POST` took, in ms */
async function postElsewhere(url: string, isQuick: boolean, checkout: Checkout): Promise<ReadonlyArray<number>> {
  await using opened = new AsyncDisposableStack();
  const mongoDb = await startMongoDb();
  opened.defer(() => mongoDb.dispose());
  const readStoreUrl = mongoDb.newUrl();
  const prefix = newPrefix();
  const startNode = async () => {
    const environment = { READ_STORE_URL: readStoreUrl, LOG_LEVEL: 'error' };
    const node = await EngineService.start({ url, prefix }, { environment, checkout });
    opened.defer(() => node.stop());
    return node;
  };
  // The first node has the lease of the projections.
  const projecting = await startNode();
  const other = await startNode();
  const requests = new FlowRequests(other.client, await projecting.createFlows(flows));
  const durations: number[] = [];
  const began = performance.now();
  const writer = async (number: number) => {
    while (performance.now() - began < (isQuick ? quickMs : wholeMs)) {
      const sent = performance.now();
      await requests.postVersion(number);
      durations.push(performance.now() - sent);
    }
  };
  await Promise.all(Array.from({ length: writers }, (_, number) => writer(number)));
  return durations;
}
