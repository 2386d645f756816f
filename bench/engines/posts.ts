import { randomUUID } from 'node:crypto';
import { EventStoreDBClient, jsonEvent, NO_STREAM } from '@eventstore/db-client';
import type { Checkout } from '#bench/beside/checkout.ts';
import type { Figure } from '#bench/beside/compare.ts';
import { format, interleaved, interleavedRounds, print, type Result } from '#bench/measure.ts';
import { callsPerPost, type PostCalls } from './service/calls-per-post.ts';
import { EngineService, newPrefix } from './service/engine-service.ts';
import { newVersion } from './service/flow-requests.ts';

const connections = 64;

/** The duration of each part: long for figures to publish, short to check that the benchmark works. */
const wholeRun = { rounds: 5, inOrder: 1_000, seconds: 3, longestRounds: 3, longestSeconds: 20 };
const quickRun = { rounds: 3, inOrder: 200, seconds: 2, longestRounds: 2, longestSeconds: 5 };

/**
 * `POST` of a version on EventStoreDB: one at a time against append and read of one event by the bare client; from 64
 * connections against the service on the embedded store; and how many calls to the server each takes.
 * @param url of a server
 */
export async function posts(url: string, isQuick: boolean): Promise<ReadonlyArray<Result>> {
  const run = isQuick ? quickRun : wholeRun;
  const [shared, embedded] = [await EngineService.start({ url, prefix: newPrefix() }), await EngineService.start(null)];
  const client = EventStoreDBClient.connectionString(url);
  try {
    for (const service of [shared, embedded]) await service.createFlows();
    const inOrder = await oneAtATime(run.inOrder, {
      post: (number) => shared.post(number),
      embedded: (number) => embedded.post(number),
      bare: () => appendAndRead(client),
    });
    const alone = await callsPerPost(shared, 1, run.seconds);
    const together = await interleaved(
      [
        { name: 'shared', round: async () => (await shared.load(connections, run.seconds)).perSecond },
        { name: 'embedded', round: async () => (await embedded.load(connections, run.seconds)).perSecond },
      ],
      run.rounds,
    );
    const underLoad = await callsPerPost(shared, connections, run.seconds);
    const longest = await interleavedRounds(
      [
        { name: 'shared', round: async () => (await shared.load(connections, run.longestSeconds)).maxMs },
        { name: 'embedded', round: async () => (await embedded.load(connections, run.longestSeconds)).maxMs },
      ],
      run.longestRounds,
    );
    const { post, bare, embedded: onEmbedded } = inOrder;
    const perSecond = (name: string) => together.get(name) ?? Number.NaN;
    const maxMs = (name: string) => Math.max(...(longest.get(name) ?? []));
    print(
      `POST of a version, one at a time: ${format(post)} ms; on the embedded store ${format(onEmbedded)} ms; append and read by the bare client ${format(bare)} ms`,
    );
    printCalls('one at a time', alone);
    printCalls(`${connections} connections`, underLoad);
    return [
      {
        what: 'POST of a version, one at a time',
        figure: post / bare,
        unit: " × bare client's append + read",
        required: 1.2,
        aim: 1,
      },
      {
        what: 'what it takes longer than on the embedded store',
        figure: (post - onEmbedded) / bare,
        unit: " × bare client's append + read",
        required: 1.2,
        aim: 1,
      },
      {
        what: `the same, ${connections} connections (${format(perSecond('shared'))}/s)`,
        figure: perSecond('shared') / perSecond('embedded'),
        unit: ' × embedded store',
        required: 0.4,
        aim: 0.6,
      },
      {
        what: `the longest of ${connections} clients' answers (${format(maxMs('shared'))} ms)`,
        figure: maxMs('shared') / maxMs('embedded'),
        unit: " × embedded store's longest",
        required: 5,
        aim: 2,
      },
      {
        what: 'the same, on a quiet machine',
        figure: maxMs('shared') / 1_000,
        unit: ' s',
        required: 0.5,
        aim: 0.3,
      },
      ownCalls('one at a time', alone),
      ownCalls(`${connections} connections`, underLoad),
    ];
  } finally {
    await Promise.all([shared.stop(), embedded.stop(), client.dispose()]);
  }
}

/** Measures `POST`s of versions of one version of the service, with embedded read models. @param url of a server */
export async function postFigures(url: string, isQuick: boolean, checkout: Checkout): Promise<ReadonlyArray<Figure>> {
  const { seconds } = isQuick ? quickRun : wholeRun;
  const service = await EngineService.start({ url, prefix: newPrefix() }, { checkout });
  try {
    await service.createFlows();
    await service.load(connections, seconds);
    const { perSecond: many } = await service.load(connections, seconds);
    const { perSecond: one } = await service.load(connections, seconds, 1);
    const { perSecond: alone } = await service.load(1, seconds);
    return [
      { what: `POST to many flows, ${connections} connections`, value: many, unit: '/s' },
      { what: `POST to one flow, ${connections} connections`, value: one, unit: '/s' },
      { what: 'POST, one at a time', value: 1_000 / alone, unit: ' ms' },
    ];
  } finally {
    await service.stop();
  }
}

/**
 * Runs contestants in turn, one call at a time. Returns the milliseconds of each, in the quickest tenth of its calls.
 */
async function oneAtATime<Name extends string>(
  calls: number,
  work: Readonly<Record<Name, (number: number) => Promise<void>>>,
): Promise<Readonly<Record<Name, number>>> {
  const names = Object.keys(work) as Name[];
  const durations = new Map<Name, number[]>(names.map((name) => [name, []]));
  for (let number = 0; number < calls; number += 1)
    for (const name of names) {
      const began = performance.now();
      await work[name](number);
      durations.get(name)?.push(performance.now() - began);
    }
  return Object.fromEntries(names.map((name) => [name, tenth(durations.get(name) ?? [])])) as Record<Name, number>;
}

/** Returns the tenth percentile. Other work on the machine has delayed these values the least. */
function tenth(values: ReadonlyArray<number>): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 10)] ?? Number.NaN;
}

async function appendAndRead(client: EventStoreDBClient): Promise<void> {
  const stream = `bench-${randomUUID()}`;
  const event = jsonEvent({ type: 'SomethingHappened', data: newVersion, metadata: { schemaVersion: 1 } });
  await client.appendToStream(stream, event, { expectedRevision: NO_STREAM });
  for await (const { event: read } of client.readStream(stream, { maxCount: 1 })) {
    if (read === undefined) throw new Error('What was appended is not read.');
  }
}

/** Returns the calls that each write makes itself; a retry after a conflict or a lost answer counts too. */
function ownCalls(how: string, { own }: PostCalls): Result {
  return {
    what: `gRPC calls for each POST, beside page reads, ${how}`,
    figure: own,
    unit: '',
    required: 1.01,
    aim: 1.001,
  };
}

function printCalls(how: string, { posts: made, own, pages, subscriptions }: PostCalls): void {
  print(
    `${format(made)} POSTs, ${how}: ${format(own)} calls each, ${format(pages)} page reads, which all share; ${subscriptions} subscriptions opened`,
  );
}
