import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CommitStatistics, type EventToAppend, noStream } from '#event-store/event-store.ts';
import { openSqliteEventStore } from '#event-store/sqlite/sqlite-event-store.ts';
import {
  type Contestant,
  callsPerSecond,
  eventLoopDelayP99,
  format,
  idleEventLoopDelayP99,
  interleaved,
  median,
  print,
  printResults,
  printTable,
  type Result,
} from './measure.ts';
import { EmmettSqlite } from './yardsticks/emmett-sqlite.ts';
import { PlainFile } from './yardsticks/plain-file.ts';

const inFlight = 64;
const streamsPerWorker = 16;
const rounds = 7;
const roundMs = 1_000;
const dataBytes = 500;

const data = { text: 'x'.repeat(dataBytes - JSON.stringify({ text: '' }).length) };
const dataText = JSON.stringify(data);

/**
 * Durable appends of one 500-byte event, 64 in flight over 1,024 streams, against a plain file and emmett-sqlite, and
 * the delay of the event loop meanwhile.
 */
export default async function append(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'switchyard-bench-'));
  const commits: CommitStatistics[] = [];
  const store = await openSqliteEventStore({
    file: join(folder, 'events.sqlite'),
    onCommit: (statistics) => commits.push(statistics),
  });
  const file = await PlainFile.open(join(folder, 'plain'));
  const emmett = await EmmettSqlite.open(join(folder, 'emmett.sqlite'));
  try {
    const delays: number[] = [];
    const idleDelays: number[] = [];
    const streams = new WorkerStreams();
    const emmettStreams = new WorkerStreams();
    const contestants: Contestant[] = [
      {
        name: 'switchyard',
        round: async () => {
          idleDelays.push(await idleEventLoopDelayP99(300));
          let figure = 0;
          delays.push(
            await eventLoopDelayP99(async () => {
              figure = await perSecond(async (worker) => {
                const { stream, revision } = streams.next(worker);
                const outcome = await store.append(stream, revision, [someEvent()]);
                if (outcome._tag === 'Left') throw new Error(`Refused: ${outcome.left.kind}`);
              });
            }),
          );
          return figure;
        },
      },
      {
        name: 'plain file',
        round: () => perSecond(() => file.append(`${randomUUID()} ThingHappened ${dataText} {"schemaVersion":1}\n`)),
      },
    ];
    if (emmett !== null)
      contestants.push({
        name: 'emmett-sqlite',
        round: () =>
          perSecond(async (worker) => {
            const { stream, revision } = emmettStreams.next(worker);
            await emmett.append(stream, revision, 'ThingHappened', data);
          }),
      });

    const figures = await interleaved(contestants, rounds);
    print(`Durable appends of one ${dataBytes}-byte event, ${inFlight} in flight; medians of ${rounds} rounds`);
    print();
    printTable(
      ['', 'appends/s'],
      [...figures].map(([name, figure]) => [name, format(figure)]),
    );
    print();
    print(
      `A commit: ${format(median(commits.map(({ appends }) => appends)))} appends, ` +
        `${format(median(commits.map(({ milliseconds }) => milliseconds)))} ms (medians). ` +
        `Event loop's delay p99: ${format(median(delays))} ms, idle ${format(median(idleDelays))} ms.`,
    );
    print();
    printResults(resultsOf(figures, median(delays) - median(idleDelays)));
  } finally {
    await store.close();
    await file.close();
    await rm(folder, { recursive: true, force: true });
  }
}

function perSecond(call: (worker: number) => Promise<void>): Promise<number> {
  return callsPerSecond(inFlight, roundMs, call);
}

function resultsOf(figures: ReadonlyMap<string, number>, delay: number): Result[] {
  const own = figures.get('switchyard') ?? Number.NaN;
  const file = figures.get('plain file') ?? Number.NaN;
  const emmett = figures.get('emmett-sqlite');
  return [
    { what: 'against a plain file', figure: own / file, unit: ' ×', required: 0.35, aim: 0.5 },
    ...(emmett === undefined
      ? []
      : [{ what: 'against emmett-sqlite', figure: own / emmett, unit: ' ×', required: 6, aim: 10 }]),
    { what: "event loop's delay p99, less the idle one", figure: delay, unit: ' ms', required: 5, aim: 2 },
  ];
}

function someEvent(): EventToAppend {
  return { id: randomUUID(), type: 'ThingHappened', data: dataText, metadata: '{"schemaVersion":1}' };
}

/** Each worker cycles through its own streams, so that workers never conflict. */
class WorkerStreams {
  readonly #revisions = new Map<string, number>();
  readonly #turns: number[] = [];

  next(worker: number): { readonly stream: string; readonly revision: number } {
    const turn = this.#turns[worker] ?? 0;
    this.#turns[worker] = turn + 1;
    const stream = `thing-${worker}-${turn % streamsPerWorker}`;
    const revision = this.#revisions.get(stream) ?? noStream;
    this.#revisions.set(stream, revision + 1);
    return { stream, revision };
  }
}
