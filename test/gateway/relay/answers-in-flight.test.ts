import assert from 'node:assert/strict';
import { Admission } from '#exchange/admission.ts';
import type { ByteBudget, ByteLimits } from '#exchange/byte-budget.ts';
import { chatService, messages, path } from '#test/gateway/support/chat-service.ts';
import { bytes, chunk, completion, done, json, stop, stream } from '#test/gateway/support/fake-provider.ts';
import { post } from '#test/gateway/support/gateway-service.ts';
import { caller, goodKey } from '#test/http/support/fake-service.ts';
import { UnreadClient } from '#test/http/support/unread-client.ts';
import { eventually } from '#test/support/run/eventually.ts';

const mebibyte = 1024 * 1024;
const chat = { model: 'large', messages };
const long = completion('x'.repeat(3 * mebibyte));
/** A stream that is longer than the system takes for a client that reads nothing. */
const longStream = [...Array.from({ length: 400 }, () => chunk({ content: 'x'.repeat(64 * 1024) })), stop, done];

describe('ByteBudget of answers of providers', () => {
  const setting = chatService({ primary: json(completion('Hello')), backup: json(completion('Hi')) });
  let budget: ByteBudget;

  async function start(limits: ByteLimits, model: object = {}, maxUnreadMs = 60_000): Promise<void> {
    const admission = new Admission({ limits: { bytes: { answer: limits } } });
    budget = admission.budgets.answer;
    await setting.restart(setting.configuration(model), { admission, maxUnreadMs });
  }

  const nothingLeft = () =>
    eventually(() => budget.bytes === 0 && budget.projects === 0, `nothing left, but ${budget.bytes} bytes are`);
  const errorOf = (answer: { readonly json: () => unknown }) =>
    (answer.json() as { readonly error: { readonly code: string } }).error.code;
  const primary = () => setting.service.gateway.targets().find(({ provider }) => provider === 'primary');

  it('refuses a call before its provider is asked while the answers of its project or of the node take the limit', async () => {
    await start({ maxBytesPerProject: mebibyte, maxBytes: 2 * mebibyte });
    const held = budget.hold(caller.projectId);
    held.resize(mebibyte);
    const limited = await post(setting.service, path, chat);
    assert.deepEqual([limited.status, errorOf(limited)], [429, 'too_many_answer_bytes']);
    assert.equal(limited.headers.get('retry-after'), '1');
    held.release();
    budget.hold('another').resize(2 * mebibyte);
    const full = await post(setting.service, path, chat);
    assert.deepEqual([full.status, errorOf(full), full.headers.get('retry-after')], [503, 'answers_full', '1']);
    assert.deepEqual(setting.primary.seen, []);
  });

  for (const [kind, behaviour, model, body] of [
    ['JSON', json(long), {}, chat],
    [
      'stream that is held whole',
      stream(longStream.slice(-48)),
      { onStreamFailure: 'whole' },
      { ...chat, stream: true },
    ],
  ] as const) {
    it(`lets a ${kind} pass the limit of its project as it grows`, async () => {
      await start({ maxBytesPerProject: mebibyte, maxBytes: 64 * mebibyte }, model);
      setting.primary.answers(behaviour);
      const answer = await post(setting.service, path, body);
      assert.deepEqual([answer.status, answer.text.length > 2 * mebibyte], [200, true]);
      await nothingLeft();
    });

    it(`ends a ${kind} for which the node has no room with 503, which is no fault of the provider`, async () => {
      await start({ maxBytesPerProject: mebibyte, maxBytes: 2 * mebibyte }, model);
      setting.primary.answers(behaviour);
      for (let call = 0; call < 6; call += 1) {
        const answer = await post(setting.service, path, body);
        assert.deepEqual([answer.status, errorOf(answer)], [503, 'answers_full']);
        assert.equal(answer.headers.get('retry-after'), '1');
      }
      assert.deepEqual([setting.primary.seen.length, setting.backup.seen.length], [6, 0]);
      assert.equal(primary()?.circuit, 'closed');
      assert.deepEqual(
        new Set(setting.service.records.map(({ outcome, errorCode }) => `${outcome} ${errorCode}`)),
        new Set(['failed answers_full']),
      );
      await nothingLeft();
    });
  }

  it('counts nothing any more of an attempt that failed', async () => {
    await start({ maxBytesPerProject: mebibyte, maxBytes: 8 * mebibyte }, { retries: 0 });
    setting.primary.answers(bytes('x'.repeat(2 * mebibyte), { 'content-type': 'application/json' }));
    setting.backup.answers(json(long));
    const answer = await post(setting.service, path, chat);
    assert.deepEqual([answer.status, answer.text.length > 2 * mebibyte], [200, true]);
    await nothingLeft();
  });

  it('counts of a stream what waits for its client, which reads nothing, and ends it', async () => {
    await start({ maxBytesPerProject: mebibyte, maxBytes: 8 * mebibyte }, {}, 1_500);
    setting.primary.answers(stream(longStream));
    const client = new UnreadClient(setting.service.port, goodKey);
    client.post(path, { ...chat, stream: true });
    const counted = await eventually(() => budget.bytes > 0 && budget.bytes, 'the bytes');
    assert.ok(counted < 512 * 1024, `${counted} bytes`);
    await nothingLeft();
    client.read();
    await client.closed;
    assert.ok(client.bytes < 400 * 64 * 1024);
    await eventually(() => setting.service.records[0]?.outcome === 'client-gone', 'the record');
  });
});
