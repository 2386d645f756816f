import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js';
import { credentials } from '@grpc/grpc-js';
import { readRequestMessage } from '#test/support/eventstoredb/calls/request-messages.ts';
import { EventStoreDbDouble } from '#test/support/eventstoredb/eventstoredb-double.ts';
import { eventually } from '#test/support/eventstoredb/eventually.ts';
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
import { leaveOut } from '#test/support/run/skipped-suites.ts';

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
else leaveOut(suite, `put the recordings in ${recordingsFolder}`);

/** The calls of one file, made again in its order. */
function replayFile(file: string): void {
  describe(file, () => {
    let double: EventStoreDbDouble;
    let replay: Replay;

    before(async () => {
      double = await EventStoreDbDouble.start();
      replay = new Replay(double);
    });

    after(() => double.kill());

    for (const [scenario, lines] of byScenario(linesOf(file))) it(scenario, () => replay.run(lines));
  });
}

/** A server that has no leader. */
function replayNotReady(): void {
  it('outage: server-not-ready', async () => {
    const double = await EventStoreDbDouble.start();
    try {
      double.faults.notReady = true;
      await new Replay(double).run(byScenario(linesOf('outage')).get('server-not-ready') ?? []);
    } finally {
      await double.kill();
    }
  });
}

/** What the client's users got: in order, each on the store of its scenario. */
function replayClient(): void {
  describe('client-level', () => {
    let double: EventStoreDbDouble;
    let replay: ClientReplay;

    before(async () => {
      double = await EventStoreDbDouble.start();
      replay = new ClientReplay(double);
    });

    after(() => double.kill());

    const steps = byScenario(linesOf<RecordedStep>('client-level'));
    // A store lives through the scenarios of a file, from one fresh store to the next.
    for (const file of files)
      for (const [scenario, lines] of byScenario(linesOf(file))) {
        const own = (steps.get(scenario) ?? []).filter(isReplayable);
        const isFresh = lines[0]?.freshStore === true;
        if (own.length > 0 || isFresh)
          it(scenario, async () => {
            if (isFresh) await replay.freshStore();
            await replay.run(own);
          });
      }
  });
}

/** Reads a little, stops while 6,000 events of 2 KB come, and reads on to the recorded end. */
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
  if (end.by === 'client') fill(6_000);
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
  fill(end.by === 'server' ? 6_000 : 3);
  await sleep(20);
  call.resume();
  if (end.by === 'server') {
    await eventually(() => status !== null);
    assert.deepEqual(status, end.status);
    assert.ok(positions.length > 0 && positions.length < 6_000, String(positions.length));
  } else {
    await eventually(() => caughtUp && positions.length === 6_003);
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

/** Their appends are by a client that was not recorded, and what was received before the end differs from run to run. */
function replaySlowConsumers(): void {
  describe('slow-consumer', () => {
    for (const [scenario, lines] of byScenario(linesOf('slow-consumer')))
      it(scenario, async () => {
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
