import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ByteBudget, type ByteReservation } from '#exchange/byte-budget.ts';
import { MemoryResponse } from '#exchange/client.ts';
import { openAiErrors } from '#exchange/error-form.ts';
import { slotTable } from '#exchange/slot-table.ts';
import { type AttemptFailure, noRoom, tooLarge } from '#gateway/attempt/attempt-failure.ts';
import type { AttemptControl } from '#gateway/attempt/body-consumer.ts';
import { classifications, type StreamInterpreter } from '#gateway/framing/stream-interpreter.ts';
import type { AnswerEvent, AnswerReader } from '#gateway/neutral/answer-event.ts';
import { ClientTools } from '#gateway/neutral/client-tools.ts';
import { TranslatedStream } from '#gateway/protocols/neutral-stream.ts';
import { ChatAnswerWriter } from '#gateway/protocols/openai-chat/chat-answer-writer.ts';
import { EventStreamResponse } from '#gateway/response/event-stream-response.ts';
import type { Keeping } from '#gateway/response/response-handler.ts';
import { headOf } from '#test/gateway/support/response-head.ts';

const interpreter: StreamInterpreter = {
  classify: (data) => (data === 'end' ? classifications.end : classifications.content),
  hasBegun: true,
  isFinished: true,
  canEnd: true,
  finish: () => '',
  tokens: null,
  text: null,
  keptBytes: 0,
};

const thrown = new TypeError('a fault of the code');
const throws = () => {
  throw thrown;
};
const unreadable = { kind: 'broken', how: 'malformed', thrown };

describe('EventStreamResponse', () => {
  const mebibyte = 1024 * 1024;
  let budget: ByteBudget;
  let hold: ByteReservation;
  let sent: MemoryResponse;
  let settled: Array<AttemptFailure | null>;
  let signsOfLife: number;

  beforeEach(() => {
    budget = new ByteBudget(slotTable.bytes.answer.limits);
    hold = budget.hold('project1');
    sent = new MemoryResponse(64 * mebibyte, new ByteBudget(slotTable.bytes.answer.limits).hold('project1'));
    settled = [];
    signsOfLife = 0;
  });

  const receive = (
    interprets: Partial<StreamInterpreter>,
    keeping: Partial<Keeping> = {},
    repeatedBytes = 0,
    createInterpreter = (): StreamInterpreter =>
      Object.defineProperties({ ...interpreter }, Object.getOwnPropertyDescriptors(interprets)),
  ) => {
    const ignore = () => undefined;
    const response = new EventStreamResponse({
      response: sent,
      call: { errors: openAiErrors, id: 'r1' },
      answerHold: hold,
      createInterpreter,
      isHeldWhole: false,
      repeatedBytes,
    });
    const control: AttemptControl = {
      markAlive: () => {
        signsOfLife += 1;
      },
      markContent: ignore,
      markEnding: ignore,
      pause: ignore,
      resume: ignore,
      complete: () => void settled.push(null),
      fail: (failure) => {
        settled.push(failure);
        consumer.onAbort?.();
      },
    };
    const consumer = response.receive(headOf('text/event-stream', keeping), control);
    return { response, consumer };
  };

  const faults: Readonly<Record<string, readonly [Partial<StreamInterpreter>, Partial<Keeping>?]>> = {
    'the reading of an event': [{ classify: throws }],
    'the translation of its events': [{ translated: throws }],
    'the writing of its end': [{ translated: () => '', finish: throws }],
    'what is done before its first event': [{}, { beforeFirstByte: async () => throws() }],
  };
  for (const [what, [interprets, keeping]] of Object.entries(faults)) {
    it(`fails alone if ${what} throws`, async () => {
      const { consumer } = receive(interprets, keeping);
      consumer.onData(Buffer.from('data: text\n\n'));
      await nextTurn();
      if (settled.length === 0) consumer.onData(Buffer.from('data: end\n\n'));
      await nextTurn();
      assert.deepEqual([settled, budget.bytes], [[unreadable], 0]);
    });
  }

  it('rejects its delivery if what is done before its last event throws', async () => {
    const { response, consumer } = receive({}, { beforeLastByte: async () => throws() });
    consumer.onData(Buffer.from('data: text\n\ndata: end\n\n'));
    await nextTurn();
    await assert.rejects(response.deliver(), thrown);
  });

  it('ends a stream that broke off with an error also if the making of its event throws', async () => {
    const { response, consumer } = receive({ errorEvent: throws });
    consumer.onData(Buffer.from('data: text\n\n'));
    await nextTurn();
    response.abort({ kind: 'broken', how: 'reset' });
    assert.match(sent.body.toString(), /provider_reset/);
  });

  it('counts what a translation keeps, and ends one that keeps more than 4 MiB', async () => {
    let keptBytes = 0;
    const { consumer } = receive({
      isFinished: false,
      translated: () => 'data: text\n\n',
      get keptBytes() {
        return keptBytes;
      },
    });
    const counted: number[] = [];
    for (const mebibytes of [1, 3, 0, 2]) {
      keptBytes = mebibytes * mebibyte;
      consumer.onData(Buffer.from('data: text\n\n'));
      await nextTurn();
      counted.push(budget.bytes / mebibyte);
    }
    assert.deepEqual([counted, settled], [[1, 3, 0, 2], []]);
    keptBytes = 5 * mebibyte;
    consumer.onData(Buffer.from('data: text\n\n'));
    await nextTurn();
    assert.deepEqual([settled, budget.bytes], [[tooLarge], 0]);
  });

  it('reads no event of a translated stream for whose bytes the node has no room', async () => {
    budget = new ByteBudget({ maxBytesPerProject: mebibyte, maxBytes: 1_000 });
    hold = budget.hold('project1');
    const read: Array<string | null> = [];
    const { consumer } = receive({
      classify: (data) => {
        read.push(data);
        return classifications.content;
      },
      translated: () => '',
    });
    consumer.onData(Buffer.from(`data: ${'x'.repeat(900)}\n\n`));
    await nextTurn();
    assert.deepEqual([read.length, settled, budget.bytes], [1, [], 0]);
    consumer.onData(Buffer.from(`data: ${'x'.repeat(1_001)}\n\n`));
    await nextTurn();
    assert.deepEqual([read.length, settled, budget.bytes], [1, [noRoom], 0]);
  });

  it('keeps no more of the calls of many streams than the node has room for', async () => {
    const maxBytes = 8 * mebibyte;
    budget = new ByteBudget({ maxBytesPerProject: mebibyte, maxBytes });
    const piece = 'x'.repeat(64 * 1024);
    const begun: ReadonlyArray<AnswerEvent> = [
      { kind: 'tool-call', index: 0, id: 'a', name: 'open', state: null },
      { kind: 'arguments', index: 0, text: '{"of":"' },
      { kind: 'tool-call', index: 1, id: 'b', name: 'waits', state: null },
      { kind: 'arguments', index: 1, text: '{"of":"' },
    ];
    const reader: AnswerReader = {
      read: (data) => (data === 'begin' ? begun : [{ kind: 'arguments', index: 1, text: data ?? '' }]),
      keptBytes: 0,
    };
    const writer = () =>
      new ChatAnswerWriter({ model: 'm', isContinuation: false, tools: new ClientTools([]), asksForUsage: false });
    const rules = { tools: new ClientTools([]), mustBeObjects: false };
    const streams = Array.from({ length: 50 }, () => {
      hold = budget.hold('project1');
      const { consumer } = receive({}, {}, 0, () => new TranslatedStream(reader, writer(), rules, false));
      consumer.onData(Buffer.from('data: begin\n\n'));
      return consumer;
    });
    for (let pieces = 0; pieces < 16; pieces += 1)
      for (const consumer of streams) {
        consumer.onData(Buffer.from(`data: ${piece}\n\n`));
        await nextTurn();
        assert.ok(budget.bytes <= maxBytes, `${budget.bytes} bytes`);
      }
    assert.ok(settled.length > 30 && settled.every((failure) => failure === noRoom), `${settled.length} have ended`);
    assert.ok(budget.bytes > maxBytes / 2);
  });

  it('reads large events in a turn of their own, in order and to the end', async () => {
    const seen: number[] = [];
    const { consumer } = receive({
      classify: (data) => {
        seen.push(data?.length ?? 0);
        return data === 'end' ? classifications.end : classifications.content;
      },
    });
    consumer.onData(Buffer.from(`data: ${'x'.repeat(mebibyte / 2)}\n\n`));
    await Promise.resolve();
    consumer.onData(Buffer.from('data: text\n\n'));
    consumer.onData(Buffer.from('data: end\n\n'));
    consumer.onEnd();
    for (let turn = 0; turn < 10 && settled.length === 0; turn += 1) await nextTurn();
    assert.deepEqual([seen, settled, budget.bytes], [[mebibyte / 2, 4, 3], [null], 0]);
    assert.equal(sent.body.length, mebibyte / 2 + 8 + 12 + 11);
  });

  it('takes each piece for a sign of life before the content, also one of a large event', async () => {
    const { consumer } = receive({ classify: () => classifications.noContent, isFinished: false });
    const counted: number[] = [];
    for (const piece of ['data:', ' {"a":', ` "${'x'.repeat(2 * mebibyte)}`, 'x', '"}', '\n\n']) {
      consumer.onData(Buffer.from(piece));
      await nextTurn();
      counted.push(signsOfLife);
    }
    assert.ok(
      counted.every((signs, at) => signs > (counted[at - 1] ?? 0)),
      counted.join(),
    );
  });

  it('ends a stream whose first events repeat more than the request', async () => {
    const first = { classify: () => classifications.noContent, isFinished: false };
    for (const [repeatedBytes, isTaken] of [
      [mebibyte, true],
      [0, false],
    ] as const) {
      settled = [];
      const { consumer } = receive(first, {}, repeatedBytes);
      for (let event = 0; event < 3; event += 1) {
        consumer.onData(Buffer.from(`data: ${'x'.repeat(mebibyte / 2)}\n\n`));
        for (let turn = 0; turn < 5; turn += 1) await nextTurn();
      }
      assert.deepEqual(settled, isTaken ? [] : [tooLarge]);
      consumer.onAbort?.();
    }
    assert.equal(budget.bytes, 0);
  });
});
