import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ByteBudget, ByteReservation } from '#exchange/byte-budget.ts';
import { MemoryResponse } from '#exchange/client.ts';
import { slotTable } from '#exchange/slot-table.ts';
import { type AttemptFailure, malformed, tooLarge } from '#gateway/attempt/attempt-failure.ts';
import type { AttemptControl } from '#gateway/attempt/body-consumer.ts';
import { WholeResponse } from '#gateway/response/whole-response.ts';
import { headOf } from '#test/gateway/support/response-head.ts';
import { eventually } from '#test/support/run/eventually.ts';

const head = headOf('application/json');

describe('WholeResponse', () => {
  let sent: MemoryResponse;
  let settled: Array<AttemptFailure | null>;

  beforeEach(() => {
    sent = new MemoryResponse(1_000, newHold());
    settled = [];
  });

  const newHold = () => new ByteReservation(new ByteBudget(slotTable.bytes.answer.limits), 'project1');
  const ignore = () => undefined;
  const control: AttemptControl = {
    markAlive: ignore,
    markContent: ignore,
    markEnding: ignore,
    pause: ignore,
    resume: ignore,
    complete: () => void settled.push(null),
    fail: (failure) => void settled.push(failure),
  };
  /** Receives an answer, with work that comes before it. */
  const receive = (beforeFirstByte: () => Promise<AttemptFailure | null>) => {
    const response = new WholeResponse({ response: sent, answerHold: newHold(), requiredMember: 'output' });
    const consumer = response.receive(headOf('application/json', { beforeFirstByte }), control);
    consumer.onData(Buffer.from('{"output":[]}'));
    consumer.onEnd();
    return response;
  };

  it('sends nothing before the work that comes first', async () => {
    const { promise: isPrepared, resolve } = Promise.withResolvers<null>();
    const response = receive(() => isPrepared);
    assert.deepEqual([sent.status, settled], [null, []]);
    resolve(null);
    await isPrepared;
    await response.deliver();
    assert.deepEqual([settled, sent.body.toString()], [[null], '{"output":[]}']);
  });

  it('sends nothing if that work refuses the answer', async () => {
    const response = receive(async () => malformed);
    await Promise.resolve();
    await response.deliver();
    assert.deepEqual([settled, sent.status], [[malformed], null]);
  });

  it('translates 8 MiB of an answer, and refuses a larger one', async () => {
    const body = Buffer.from('{}');
    const translator = { translate: () => ({ contentType: 'application/json', body }) };
    for (const [index, bytes] of [0, 1].entries()) {
      const response = new WholeResponse({ response: sent, answerHold: newHold(), requiredMember: 'output' });
      const consumer = response.receive({ ...head, translator }, control);
      consumer.onData(Buffer.from(`{"output":"${'x'.repeat(8 * 1024 * 1024 - 13 + bytes)}"}`));
      consumer.onEnd();
      await eventually(() => settled.length > index);
    }
    assert.deepEqual(settled, [null, tooLarge]);
  });

  describe('when the code that reads an answer throws', () => {
    const thrown = new TypeError('a fault of the code');
    const throws = () => {
      throw thrown;
    };
    const unreadable = { kind: 'broken', how: 'malformed', thrown };
    const large = Buffer.from(JSON.stringify({ output: 'x'.repeat(100_000) }));

    it('fails if the work that comes first throws', async () => {
      receive(async () => throws());
      await nextTurn();
      assert.deepEqual([settled, sent.status], [[unreadable], null]);
    });

    it('fails if the translation of a large answer throws, which has a turn of its own', async () => {
      const hold = newHold();
      const response = new WholeResponse({ response: sent, answerHold: hold, requiredMember: 'output' });
      const consumer = response.receive({ ...head, translator: { translate: throws } }, control);
      consumer.onData(large);
      consumer.onEnd();
      await eventually(() => settled.length > 0);
      assert.deepEqual([settled, sent.status, hold.bytes], [[unreadable], null, 0]);
    });

    it('has sent nothing if the work that comes last throws', async () => {
      const hold = newHold();
      const response = new WholeResponse({ response: sent, answerHold: hold, requiredMember: 'output' });
      const consumer = response.receive(headOf('application/json', { beforeLastByte: async () => throws() }), control);
      consumer.onData(Buffer.from('{"output":[]}'));
      consumer.onEnd();
      await assert.rejects(response.deliver(), thrown);
      assert.deepEqual([response.hasBegun, sent.status, hold.bytes], [false, null, 0]);
    });
  });
});
