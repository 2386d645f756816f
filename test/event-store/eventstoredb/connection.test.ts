import assert from 'node:assert/strict';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { status } from '@grpc/grpc-js';
import { LeaderConnection } from '#event-store/eventstoredb/connection/connection.ts';
import { serverSettings } from '#event-store/eventstoredb/connection/server-settings.ts';
import { appendRequests, probeRequest } from '#event-store/eventstoredb/wire/requests.ts';
import { StreamNames } from '#event-store/eventstoredb/wire/stream-names.ts';
import { someEvent } from '#test/contract/event-store.ts';
import { EventStoreDbDouble } from '#test/support/eventstoredb/eventstoredb-double.ts';
import { notReady } from '#test/support/eventstoredb/faults/failures.ts';
import { eventually } from '#test/support/run/eventually.ts';

const longMs = 600_000;
/** More than the time for the last answers of a replaced link. */
const replacedMs = 600;
const question = probeRequest(new StreamNames({ streamPrefix: 'test.' }));

describe('the connection to EventStoreDB', function () {
  this.timeout(10_000);

  let double: EventStoreDbDouble;
  let connection: LeaderConnection;

  beforeEach(async () => {
    double = await EventStoreDbDouble.start();
    const settings = serverSettings(`${double.url}&gossipTimeout=600`);
    connection = new LeaderConnection({ settings, question, onAnswer: () => {}, onFailure: () => {} });
  });

  afterEach(async () => {
    await connection.close();
    double.thaw();
    await double.kill();
  });

  const append = () => connection.append(appendRequests('test.stream', -1, [someEvent()]), longMs);

  it('closes during a search for the leader, which then fails', async () => {
    double.freeze();
    const failed = assert.rejects(connection.read(question, longMs, longMs), /is closed/);
    await connection.close();
    await failed;
  });

  it('ends at its close a call that an answering link kept after its replacement', async () => {
    await connection.probe(longMs);
    double.faults.silentReads = true;
    const { calls } = double;
    const call = await connection.read(question, longMs, longMs);
    const ended = once(call, 'error').then(([error]) => error.code);
    await eventually(() => double.calls > calls);
    double.faults.silentReads = false;
    double.faults.nextAppends.push({ kind: 'answer-late', milliseconds: 200 }, { kind: 'fail', failure: notReady() });
    const [late, refused] = await Promise.allSettled([append(), append()]);
    assert.deepEqual([late.status, refused.status], ['fulfilled', 'rejected']);
    const moved = new Promise<void>((resolve) => connection.onMove(resolve));
    await connection.probe(longMs);
    await moved;
    await sleep(replacedMs);
    await connection.close();
    assert.equal(await ended, status.CANCELLED);
  });
});
