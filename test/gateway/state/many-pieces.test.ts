import assert from 'node:assert/strict';
import * as E from 'fp-ts/lib/Either.js';
import { parseMessages } from '#gateway/protocols/anthropic-messages/parse-messages.ts';
import { ChatAnswerReader } from '#gateway/protocols/openai-chat/chat-answer-reader.ts';
import { openAiChat } from '#gateway/protocols/openai-chat/openai-chat.ts';
import { signatureTextOf } from '#gateway/protocols/signature-text.ts';
import { plainTarget } from '#test/gateway/support/plain-target.ts';
import { listOf } from '#test/gateway/support/strict-provider.ts';

const listOfLength = <T>(count: number, make: (index: number) => T) =>
  Array.from({ length: count }, (_, index) => make(index));

/** Minimum time of the processor, in microseconds, that some work takes. */
function timeOf(work: () => void): number {
  const tries = listOfLength(3, () => {
    const begun = process.cpuUsage();
    work();
    return process.cpuUsage(begun).user;
  });
  return Math.min(...tries);
}

/** Eight times the pieces take eight times as long, and 64 times where each is compared with all others. */
function assertLinear(workOf: (count: number) => () => void): void {
  const [few, many] = [timeOf(workOf(500)), timeOf(workOf(4_000))];
  assert.ok(many < 32 * Math.max(few, 5_000), `${few} and ${many} µs`);
}

describe('a state in many pieces', () => {
  /** Parses a turn with a redacted thought of each state. */
  const parsedWith = async (states: ReadonlyArray<string>) => {
    const thoughts = states.map((value) => ({
      type: 'redacted_thinking',
      data: signatureTextOf({ of: plainTarget.id, value, isRedacted: true }),
    }));
    const messages = [
      { role: 'user', content: 'x' },
      { role: 'assistant', content: [...thoughts, { type: 'tool_use', id: 'a', name: 'f', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'y' }] },
    ];
    const parsed = await parseMessages(Buffer.from(JSON.stringify({ model: 'm', messages })), 100_000);
    return E.isRight(parsed) ? parsed.right.conversation : assert.fail();
  };

  it('is written for its provider in time linear in their number', async () => {
    const extraOf = (index: number) => `{"extra_content":{"k${index}":1}}`;
    const conversations = new Map(
      await Promise.all(
        [500, 4_000].map(async (count) => [count, await parsedWith(listOfLength(count, extraOf))] as const),
      ),
    );
    assertLinear((count) => {
      const conversation = conversations.get(count) ?? assert.fail();
      return () => assert.ok(E.isRight(openAiChat.provider.write(conversation, plainTarget)));
    });
  });

  it('has all of them, and of one member the latest', async () => {
    const conversation = await parsedWith([
      '{"extra_content":{"google":{"a":1,"b":1},"__proto__":{"a":1},"other":{"a":1}}}',
      '{"extra_content":{"google":{"b":2,"__proto__":3},"__proto__":{"b":2},"other":"x","thoughts":{"thought":true}}}',
    ]);
    const written = openAiChat.provider.write(conversation, plainTarget);
    const body = E.isRight(written) ? written.right.body.toString() : assert.fail();
    assert.match(
      body,
      /"extra_content":\{"google":\{"a":1,"b":2,"__proto__":3\},"__proto__":\{"a":1,"b":2\},"other":"x"\}/,
    );
    assert.equal(listOf(JSON.parse(body).messages).length, 3);
  });

  const chunk = (delta: object) => JSON.stringify({ choices: [{ index: 0, delta }] });
  const ofMessage = (_: number, index: number) => ({ extra_content: { google: { [`k${index}`]: 1 } } });
  const ofCall = (count: number, index: number) => ({ tool_calls: [pieceOf(count, index)] });
  const pieceOf = (count: number, index: number) => ({
    ...{ index: 0, extra_content: { [`k${index}`]: 1 } },
    ...(index === count - 1 ? { id: 'a', function: { name: 'f', arguments: '{}' } } : {}),
  });
  const read = (chunks: ReadonlyArray<string>) => {
    const reader = new ChatAnswerReader(plainTarget);
    return { reader, events: chunks.flatMap((each) => reader.read(each)) };
  };
  for (const [of, deltaOf] of [
    ['a message', ofMessage],
    ['a call', ofCall],
  ] as const)
    it(`of ${of} is read from a stream in time linear in their number`, () =>
      assertLinear((count) => {
        const chunks = listOfLength(count, (index) => chunk(deltaOf(count, index)));
        return () => assert.ok(read(chunks).reader.keptBytes > 30 * count);
      }));

  it('of a call in one event is read in time linear in their number', () =>
    assertLinear((count) => {
      const event = chunk({ tool_calls: listOfLength(count, (index) => pieceOf(count, index)) });
      return () => {
        const state = read([event]).events.flatMap((each) => (each.kind === 'tool-call' ? [each.state] : []));
        assert.equal(Object.keys(JSON.parse(state[0]?.value ?? '{}')).length, count);
      };
    }));

  it('takes no more bytes where its pieces are the same', () => {
    const extra = { extra_content: { google: { thought_signature: 'x'.repeat(10_000) } } };
    for (const delta of [extra, { tool_calls: [{ index: 0, ...extra }] }]) {
      const { reader } = read(listOfLength(100, () => chunk(delta)));
      assert.ok(reader.keptBytes > 10_000 && reader.keptBytes < 20_000, String(reader.keptBytes));
    }
  });

  it('takes none after its call has begun', () => {
    const begun = chunk({ tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: '{}' } }] });
    const late = chunk({ tool_calls: [{ index: 0, extra_content: { google: { signature: 'x'.repeat(10_000) } } }] });
    assert.ok(read([begun, late]).reader.keptBytes < 10_000);
  });
});
