import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js';
import { credentials } from '@grpc/grpc-js';
import { readRequestMessage } from '#test/support/eventstoredb/calls/request-messages.ts';
import { EventStoreDbDouble } from '#test/support/eventstoredb/eventstoredb-double.ts';
import { ClientReplay, isReplayable } from '#test/support/eventstoredb/recordings/client-replay.ts';
import {
  byScenario,
  type JsonMessage,
  linesOf,
  type RecordedLine,
  type RecordedStep,
  recordingsAreThere,
  recordingsFolder,
} from '#test/support/eventstoredb/recordings/recordings.ts';
import { Replay } from '#test/support/eventstoredb/recordings/replay.ts';
import { eventually } from '#test/support/run/eventually.ts';
import { skipSuite } from '#test/support/run/skipped-suites.ts';

const suite = 'EventStoreDB double against recordings of a real server';

const files = [
  'session',
  'append-batch',
  'append-unary',
  'read-stream',
  'read-all',
  'subscribe-stream',
  'subscribe-all',
  'subscribe-all-filter',
  'delete-tombstone',
  'stream-metadata',
];

if (recordingsAreThere)
  describe(suite, () => {
    files.forEach(replayFile);
    replayClient();
    replayNotReady();
    replaySlowConsumers();
  });
else skipSuite(suite, `put the recordings in ${recordingsFolder}`);

/** Repeats the recorded calls of one file in order. */
function replayFile(file: string): void {
  describe(file, () => {
    let double: EventStoreDbDouble;
    let replay: Replay;

    before(async () => {
      double = await EventStoreDbDouble.start();
      replay = new Replay(double);
    });

    after(() => double.kill());

    for (const [scenario, lines] of byScenario(linesOf(file)))
      it(`answers ${scenario} of ${file} as recorded`, () => replay.run(lines));
  });
}

/** A server that has no leader. */
function replayNotReady(): void {
  it('answers like a recorded server that is not ready', async () => {
    const double = await EventStoreDbDouble.start();
    try {
      double.faults.notReady = true;
      const lines = byScenario(linesOf('outage')).get('server-not-ready') ?? [];
      assert.ok(lines.length > 0, 'the scenario server-not-ready is recorded');
      await new Replay(double).run(lines);
    } finally {
      await double.kill();
    }
  });
}

/** Repeats the recorded calls of clients in order, each on the store of its scenario. */
function replayClient(): void {
  describe('client-level recordings', () => {
    let double: EventStoreDbDouble;
    let replay: ClientReplay;

    before(async () => {
      double = await EventStoreDbDouble.start();
      replay = new ClientReplay(double);
    });

    after(() => double.kill());

    const steps = byScenario(linesOf<RecordedStep>('client-level'));
    // The scenarios of a file share a store until one begins with a fresh store.
    for (const file of files)
      for (const [scenario, lines] of byScenario(linesOf(file))) {
        const own = (steps.get(scenario) ?? []).filter(isReplayable);
        const isFresh = lines[0]?.freshStore === true;
        if (own.length > 0 || isFresh)
          it(`gives clients the results of ${scenario} as recorded`, async () => {
            if (isFresh) await replay.freshStore();
            await replay.run(own);
          });
      }
  });
}

/** More of 2 KB than a server and the network keep for a client; the recorded run had 6,000. */
const manyEvents = 1_000;

/** Reads a few events, pauses while many arrive, and then reads to the recorded end. */
async function slowConsumer(
  double: EventStoreDbDouble,
  client: StreamsClient,
  lines: ReadonlyArray<RecordedLine>,
): Promise<void> {
  const request = lines.find(({ dir, message }) => dir === 'request' && message?.options !== undefined)?.message;
  const end = lines.find(({ dir, method }) => dir === 'end' && method?.endsWith('/Read'));
  assert.ok(request !== undefined && end !== undefined);
  const stream = Buffer.from(streamOf(request), 'base64').toString() || 'slow';
  const fill = (count: number) => {
    for (let number = 0; number < count; number += 1)
      double.log.append(stream, 'any', [{ id: crypto.randomUUID(), type: 'e', isJson: false, data, metadata: empty }]);
  };
  if (end.by === 'client') fill(manyEvents);
  const positions: number[] = [];
  let caughtUp = false;
  let status: { code: number; details: string } | null = null;
  const call = client.read(readRequestMessage(request, (position) => position));
  call.on('data', (answer) => {
    if (answer.hasEvent()) positions.push(Number(answer.getEvent()?.getCommitPosition()));
    caughtUp ||= answer.hasCaughtUp();
  });
  call.on('error', () => {});
  call.on('status', (ended) => {
    status = { code: ended.code, details: ended.details };
  });
  if (end.by === 'server') {
    await eventually(() => caughtUp);
    fill(3);
    await eventually(() => positions.length === 3);
  }
  call.pause();
  await sleep(20);
  fill(end.by === 'server' ? manyEvents : 3);
  await sleep(20);
  call.resume();
  if (end.by === 'server') {
    await eventually(() => status !== null);
    assert.deepEqual(status, end.status);
    assert.ok(positions.length > 0 && positions.length < manyEvents, String(positions.length));
  } else {
    await eventually(() => caughtUp && positions.length === manyEvents + 3);
    assert.equal(status, null);
    call.cancel();
  }
  const logged = double.log.events.filter((event) => event.stream === stream).map(({ position }) => position);
  assert.deepEqual(positions, logged.slice(0, positions.length), 'no gap, no repeat');
}

const data = Buffer.alloc(2_000, 'x');
const empty = new Uint8Array();

function streamOf(request: JsonMessage): string {
  const { stream } = request.options as JsonMessage;
  const { streamIdentifier } = (stream ?? {}) as JsonMessage;
  return String(((streamIdentifier ?? {}) as JsonMessage).streamName ?? '');
}

/** Their appends come from a client that was not recorded, and the number of events received before the end differs from run to run. */
function replaySlowConsumers(): void {
  describe('slow-consumer recordings', function () {
    this.timeout(60_000);
    for (const [scenario, lines] of byScenario(linesOf('slow-consumer')))
      it(`treats a slow consumer of ${scenario} as recorded`, async () => {
        const double = await EventStoreDbDouble.start();
        const client = new StreamsClient(`127.0.0.1:${double.port}`, credentials.createInsecure());
        try {
          await slowConsumer(double, client, lines);
        } finally {
          client.close();
          await double.kill();
        }
      });
  });
}
