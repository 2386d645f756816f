import assert from 'node:assert/strict';
import { ByteBudget, ByteReservation, defaultAnswerByteLimits } from '#exchange/byte-budget.ts';
import { MemoryResponse } from '#exchange/response-sink.ts';
import { type AttemptFailure, malformed } from '#gateway/attempt/attempt-failure.ts';
import type { AttemptControl } from '#gateway/attempt/body-consumer.ts';
import type { ResponseHead } from '#gateway/response/response-handler.ts';
import { WholeResponse } from '#gateway/response/whole-response.ts';

const head: ResponseHead = {
  status: 200,
  headers: { 'content-type': 'application/json' },
  translator: null,
  provider: 'openai',
  servedFrom: { model: 'fast', target: 'openai/gpt-x' },
  servedBy: [],
  costHeader: null,
};

describe('WholeResponse', () => {
  let sent: MemoryResponse;
  let settled: Array<AttemptFailure | null>;

  beforeEach(() => {
    sent = new MemoryResponse(1_000, newHold());
    settled = [];
  });

  const newHold = () => new ByteReservation(new ByteBudget(defaultAnswerByteLimits), 'project1');
  const ignore = () => undefined;
  const control: AttemptControl = {
    markContent: ignore,
    markEnding: ignore,
    pause: ignore,
    resume: ignore,
    complete: () => void settled.push(null),
    fail: (failure) => void settled.push(failure),
  };
  /** Receives an answer, with work that comes before it. */
  const receive = (prepare: () => Promise<AttemptFailure | null>) => {
    const response = new WholeResponse({ response: sent, answerHold: newHold(), requiredMember: 'output', prepare });
    const consumer = response.receive(head, control);
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
});
