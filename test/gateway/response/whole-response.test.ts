import assert from 'node:assert/strict';
import { ByteBudget } from '#exchange/byte-budget.ts';
import { MemoryResponse } from '#exchange/client.ts';
import { slotTable } from '#exchange/slot-table.ts';
import { type AttemptFailure, noRoom } from '#gateway/attempt/attempt-failure.ts';
import type { AttemptControl } from '#gateway/attempt/body-consumer.ts';
import { bytesOfValues } from '#gateway/framing/foreign-json.ts';
import type { ResponseHead } from '#gateway/response/response-handler.ts';
import { WholeResponse } from '#gateway/response/whole-response.ts';
import { headOf } from '#test/gateway/support/response-head.ts';

const usage = { prompt_tokens: 3, completion_tokens: 4 };
/** It has more bytes than are read without a turn. */
const body = Buffer.from(JSON.stringify({ data: Array.from({ length: 50_000 }, () => ({})), usage }));
/** The objects in `data`, the two members with their list and object, and the two numbers. */
const values = 50_005;

/** Receives the answer on a node with room for some bytes of answers. */
async function receive(maxBytes: number, isParsed: boolean, translator: ResponseHead['translator'] = null) {
  const budget = new ByteBudget({ maxBytesPerProject: maxBytes, maxBytes });
  const sent = new MemoryResponse(body.length, new ByteBudget(slotTable.bytes.answer.limits).hold('project1'));
  const { promise, resolve } = Promise.withResolvers<AttemptFailure | null>();
  const ignore = () => undefined;
  const control: AttemptControl = {
    markAlive: ignore,
    markContent: ignore,
    markEnding: ignore,
    pause: ignore,
    resume: ignore,
    complete: () => resolve(null),
    fail: resolve,
  };
  const whole = new WholeResponse({
    response: sent,
    answerHold: budget.hold('project1'),
    requiredMember: 'data',
    isParsed,
  });
  const consumer = whole.receive({ ...headOf('application/json'), translator }, control);
  consumer.onData(body);
  consumer.onEnd();
  const failure = await promise;
  return { failure, sent, reported: consumer.reported?.(), budget };
}

describe('a large whole answer', () => {
  const enough = body.length + bytesOfValues(values, body.length);

  it('counts what its values take until it is sent', async () => {
    const { failure, sent, budget } = await receive(enough, true);
    assert.deepEqual([failure, sent.body, budget.bytes], [null, body, 0]);
  });

  it('is refused before it is parsed where there is no room for its values', async () => {
    const { failure, sent, budget } = await receive(enough - 1, true);
    assert.deepEqual([failure, sent.body.length, budget.bytes], [noRoom, 0, 0]);
  });

  it('passes as it came, with its usage, where there is no room for its values and it need not be parsed', async () => {
    const { failure, sent, reported, budget } = await receive(enough - 1, false);
    assert.deepEqual([failure, sent.body, budget.bytes], [null, body, 0]);
    assert.deepEqual([reported?.tokens?.input, reported?.tokens?.output], [3, 4]);
  });

  it('reports what the reader of its protocol has counted', async () => {
    const translated = { contentType: 'application/json', body: Buffer.from('{}') };
    const tokens = { input: 5, output: 6 };
    const counted = await receive(enough, false, { translate: () => ({ ...translated, tokens }) });
    assert.deepEqual(counted.reported?.tokens, tokens);
    const uncounted = await receive(enough, false, { translate: () => translated });
    assert.deepEqual(uncounted.reported?.tokens?.input, 3);
  });
});
