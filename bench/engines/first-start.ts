import { setTimeout as sleep } from 'node:timers/promises';
import { type Checkout, here } from '#bench/beside/checkout.ts';
import type { Figure } from '#bench/beside/compare.ts';
import { processorMs } from '#bench/gateway-processes/processor-time.ts';
import { call, pollMs } from '#bench/http-processes/processes.ts';
import { format, interleaved, print, type Result } from '#bench/measure.ts';
import { fillLog } from './fill-log.ts';
import { readAllPerSecond } from './read-all.ts';
import { EngineService, newPrefix } from './service/engine-service.ts';

const timeoutMs = 300_000;
/** When no position changes for this long, every follower has seen the log. */
const settledMs = 1_500;

/**
 * Measures a first start of the whole service on a log: all read models and all processes, from the start until the
 * last of them has seen the whole log. Compared with the bare client's `$all` subscription, which ignores the events.
 * A start on an empty log is measured too, because its time is not reading.
 * @param url of a server with an empty log
 */
export async function firstStart(url: string, isQuick: boolean): Promise<ReadonlyArray<Result>> {
  const events = isQuick ? 10_000 : 60_000;
  const streamPrefix = newPrefix();
  const end = await fillLog(url, streamPrefix, events);
  const figures = await interleaved(
    [
      { name: 'client', round: () => readAllPerSecond(url, events, timeoutMs) },
      { name: 'whole', round: async () => (await measureStart(url, streamPrefix, end)).seconds },
      { name: 'empty', round: async () => (await measureStart(url, newPrefix(), 0)).seconds },
    ],
    isQuick ? 1 : 3,
  );
  const figure = (name: string) => figures.get(name) ?? Number.NaN;
  const reading = events / (figure('whole') - figure('empty'));
  print(
    `A first start on ${format(events)} events: ${format(figure('whole'))} s; on an empty log ${format(figure('empty'))} s; the bare client's $all ${format(events / figure('client'))} s`,
  );
  const against = { unit: " × bare client's $all", required: 0.35, aim: 0.5 };
  return [
    {
      what: `a first start's reading (${format(reading)} events/s)`,
      figure: reading / figure('client'),
      ...against,
    },
    {
      what: 'the same, with what a start on an empty log takes',
      figure: events / figure('whole') / figure('client'),
      ...against,
    },
  ];
}

/** Measures what reading a log takes one of two versions, above a start on an empty log. */
export async function firstStartFigures(
  url: string,
  isQuick: boolean,
  checkout: Checkout,
): Promise<ReadonlyArray<Figure>> {
  const streamPrefix = newPrefix();
  const end = await fillLog(url, streamPrefix, isQuick ? 20_000 : 60_000);
  const whole = await measureStart(url, streamPrefix, end, checkout);
  const empty = await measureStart(url, newPrefix(), 0, checkout);
  const above = (figure: (start: Start) => number) => figure(whole) - figure(empty);
  return [
    { what: 'processor time', value: above(({ processorMs: used }) => used), unit: ' ms', maxRatio: 1.4 },
    { what: 'time', value: above(({ seconds }) => seconds), unit: ' s' },
    { what: 'reads of the log', value: above(({ reads }) => reads), unit: '' },
  ];
}

/** What a start took until positions stopped changing and all read models had passed a position. */
interface Start {
  readonly seconds: number;
  readonly processorMs: number;
  readonly reads: number;
}

async function measureStart(url: string, prefix: string, end: number, checkout = here): Promise<Start> {
  const started = performance.now();
  const service = await EngineService.start({ url, prefix }, { checkout });
  let last = '';
  let movedAt = performance.now();
  try {
    while (performance.now() - started < timeoutMs) {
      const { text, hasPassed } = await progress(service, end);
      if (text !== last) movedAt = performance.now();
      else if (hasPassed && performance.now() - movedAt > settledMs) {
        const reads = (await service.calls()).log;
        return { seconds: (movedAt - started) / 1_000, processorMs: processorMs(service.server.pid), reads };
      }
      last = text;
      await sleep(pollMs(performance.now() - started));
    }
    throw new Error('The service did not catch up.');
  } finally {
    await service.stop();
  }
}

interface Statuses {
  readonly projections?: ReadonlyArray<{ readonly position: number }>;
  readonly processes?: ReadonlyArray<{ readonly position: number }>;
}

/** Returns the positions of all read models and processes. A process that meets no event of its types stays at 0. */
async function progress({ server }: EngineService, end: number): Promise<{ text: string; hasPassed: boolean }> {
  const read = async (path: string) => (await (await call(server, 'GET', path)).json()) as Statuses;
  const [{ projections = [] }, { processes = [] }] = [await read('/v1/projections'), await read('/v1/processes')];
  const text = [...projections, ...processes].map(({ position }) => position).join();
  return { text, hasPassed: projections.length > 0 && projections.every(({ position }) => position >= end) };
}
