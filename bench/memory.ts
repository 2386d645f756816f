import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EventStoreDbDoubleProcess } from '#test/support/eventstoredb/double-process.ts';
import { type Checkout, here } from './beside/checkout.ts';
import type { Figure, MeasureVersion } from './beside/compare.ts';
import { withServiceOn } from './engines/service/engine-service.ts';
import { chatLoad, sendStreams } from './gateway-processes/chats.ts';
import { startWays, type Way, type Ways } from './gateway-processes/contestants.ts';
import type { Pacing } from './gateway-processes/pacing.ts';
import { peakMemory, residentMemory } from './gateway-processes/resident-memory.ts';
import { getLoad, postLoad } from './http/flow-load.ts';
import { createFlows, flowIds, usualFlows } from './http/prepared-service.ts';
import { sendLoad, startService } from './http-processes/processes.ts';
import { chosenParts, format, printTable } from './measure.ts';

const megabyte = 1_024 * 1_024;
/** A process that has just started still compiles and frees memory. */
const restMs = 5_000;
/** The memory after a load is measured again after this time. */
const afterLoadMs = 5_000;
const slowStreams = 1_000;
/** How long each kind of request is sent in a mixed load. */
const mixedSeconds = 8;
const afterMixedLoadMs = 60_000;
const oncePerSecond: Pacing = { firstMs: 1_000, gapMs: 1_000, events: 10, ending: 'end' };

const rows: Readonly<Record<string, (checkout: Checkout) => Promise<ReadonlyArray<Figure>>>> = {
  rest: atRest,
  gateway: gatewayAtRest,
  chats: (checkout) => withGateway(checkout, afterChats),
  streams: (checkout) => withGateway(checkout, duringSlowStreams),
  mixed: (checkout) => withGateway(checkout, afterMixedLoad),
};

/**
 * Measures the resident memory of the service: at rest, after a load of chats, with a thousand slow streams, and after a
 * load of every kind of request. It sets no variables of the C library; set `MALLOC_ARENA_MAX=2` to measure as the image
 * runs it. `npm run bench -- memory chats` measures only that row.
 */
export default async function memory(args: ReadonlyArray<string>): Promise<void> {
  const figures = await beside(args)(here);
  printTable(
    ['', 'MB'],
    figures.map(({ what, value }) => [what, format(value)]),
  );
}

/** Measures another version beside this one. */
export function beside(args: ReadonlyArray<string>): MeasureVersion {
  const wanted = chosenParts(rows, args);
  return async (checkout) => {
    const figures: Figure[] = [];
    for (const measure of wanted) figures.push(...(await measure(checkout)));
    return figures;
  };
}

async function atRest(checkout: Checkout): Promise<ReadonlyArray<Figure>> {
  const folder = await mkdtemp(join(tmpdir(), 'switchyard-bench-'));
  const service = await startService(folder, {}, checkout);
  try {
    await sleep(restMs);
    return [figureOf('at rest, all roles', residentMemory(service.pid))];
  } finally {
    await service.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Roles can only be split on servers, and a gateway is ready when another node projects. */
async function gatewayAtRest(checkout: Checkout): Promise<ReadonlyArray<Figure>> {
  const double = await EventStoreDbDoubleProcess.start();
  const folder = await mkdtemp(join(tmpdir(), 'switchyard-bench-'));
  try {
    return await withServiceOn(double.url, { checkout }, async ({ variables }) => {
      const gateway = await startService(folder, { ...variables, ROLES: 'gateway' }, checkout);
      await sleep(restMs);
      const figure = figureOf('at rest, ROLES=gateway', residentMemory(gateway.pid));
      await gateway.stop();
      return [figure];
    });
  } finally {
    await double.end();
    await rm(folder, { recursive: true, force: true });
  }
}

async function withGateway(
  checkout: Checkout,
  measure: (ways: Ways) => Promise<ReadonlyArray<Figure>>,
): Promise<ReadonlyArray<Figure>> {
  const ways = await startWays({ withPortkey: false, withNginx: false, checkout });
  try {
    return await measure(ways);
  } finally {
    await ways.stop();
  }
}

async function afterChats({ switchyard }: Ways): Promise<ReadonlyArray<Figure>> {
  await sendLoad(chatLoad(switchyard));
  await sendLoad(chatLoad(switchyard));
  const after = residentMemory(switchyard.pid);
  await sleep(afterLoadMs);
  return [
    figureOf('after 64 connections of chats', after),
    figureOf('five seconds later', residentMemory(switchyard.pid)),
  ];
}

async function duringSlowStreams({ switchyard }: { readonly switchyard: Way }): Promise<ReadonlyArray<Figure>> {
  const peak = await peakMemory(switchyard.pid, () => sendStreams(switchyard, slowStreams, oncePerSecond, 0));
  return [figureOf(`peak with ${format(slowStreams)} slow streams`, peak)];
}

/** Sends one kind of request after the other, so that the memory of one can serve the next. */
async function afterMixedLoad({ switchyard }: Ways): Promise<ReadonlyArray<Figure>> {
  await createFlows(switchyard, usualFlows);
  const ids = await flowIds(switchyard);
  const loads = {
    'GETs of many flows': getLoad(switchyard, ids),
    'POSTs to many flows': postLoad(switchyard, ids),
    'POSTs to one flow': postLoad(switchyard, ids.slice(0, 1)),
    chats: chatLoad(switchyard),
  };
  const figures: Figure[] = [];
  for (const [what, load] of Object.entries(loads)) {
    await sendLoad({ ...load, seconds: mixedSeconds });
    figures.push(figureOf(`mixed load, after ${what}`, residentMemory(switchyard.pid)));
  }
  await sleep(afterMixedLoadMs);
  return [...figures, figureOf('mixed load, a minute later', residentMemory(switchyard.pid))];
}

function figureOf(what: string, bytes: number): Figure {
  return { what, value: bytes / megabyte, unit: ' MB' };
}
