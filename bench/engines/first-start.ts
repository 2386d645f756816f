import { setTimeout as sleep } from 'node:timers/promises';
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
      { name: 'whole', round: () => startSeconds(url, streamPrefix, end) },
      { name: 'empty', round: () => startSeconds(url, newPrefix(), 0) },
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

/**
 * Returns the time from the start of the service until positions stop changing and all read models have passed a
 * position.
 */
async function startSeconds(url: string, prefix: string, end: number): Promise<number> {
  const started = performance.now();
  const service = await EngineService.start({ url, prefix });
  let last = '';
  let movedAt = performance.now();
  try {
    while (performance.now() - started < timeoutMs) {
      const { text, hasPassed } = await progress(service, end);
      if (text !== last) movedAt = performance.now();
      else if (hasPassed && performance.now() - movedAt > settledMs) return (movedAt - started) / 1_000;
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
