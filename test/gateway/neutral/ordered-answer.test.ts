import assert from 'node:assert/strict';
import type { AnswerEvent } from '#gateway/neutral/answer-event.ts';
import { OrderedAnswer } from '#gateway/neutral/ordered-answer.ts';
import { freeTextTools } from '#test/gateway/support/free-text-tools.ts';

const call = (index: number): AnswerEvent => ({
  kind: 'tool-call',
  index,
  id: `c${index}`,
  name: `t${index}`,
  state: null,
});
const given = (index: number, text: string): AnswerEvent => ({ kind: 'arguments', index, text });
const text = (said: string): AnswerEvent => ({ kind: 'text', text: said });
const ended = (index: number | null): AnswerEvent => ({ kind: 'part-end', index });
const finished = (reason: 'tool-calls' | 'length' | 'filtered' = 'tool-calls'): AnswerEvent => ({
  kind: 'finished',
  reason,
  stopSequence: null,
});
const malformed: AnswerEvent = { kind: 'malformed' };

const orderOf = (mustBeObjects = true, freeTexts: ReadonlyArray<string> = []) =>
  new OrderedAnswer({ mustBeObjects, tools: freeTextTools(freeTexts) });

/** What passes after each of the events. */
const steps = (order: OrderedAnswer, ...events: ReadonlyArray<AnswerEvent>) => events.map((event) => order.take(event));
const passed = (order: OrderedAnswer, ...events: ReadonlyArray<AnswerEvent>) => steps(order, ...events).flat();

describe('an ordered answer', () => {
  it('passes what is in order as it comes, but for empty pieces', () => {
    const events = [
      { kind: 'started', id: null, model: null } as const,
      { kind: 'part-start' } as const,
      { kind: 'reasoning', text: 'r' } as const,
      text('a'),
      ended(null),
      call(0),
      given(0, '{"a":'),
      { kind: 'usage', tokens: { input: 1, output: 1 } } as const,
      given(0, '1}'),
      ended(0),
      call(1),
      given(1, '[1]'),
      ended(1),
      finished(),
      { kind: 'end' } as const,
    ];
    assert.deepEqual(
      steps(orderOf(false), ...events),
      events.map((event) => [event]),
    );
    assert.deepEqual(passed(orderOf(), text(''), call(0), given(0, ''), text('')), [call(0)]);
  });

  it('ends a call that is a whole object when a piece of another part comes', () => {
    assert.deepEqual(steps(orderOf(), call(0), given(0, '{"a":1}'), call(1), given(1, '{}'), text('a')), [
      [call(0)],
      [given(0, '{"a":1}')],
      [ended(0), call(1)],
      [],
      [given(1, '{}'), ended(1), text('a')],
    ]);
  });

  it('leaves out a placeholder before the arguments', () => {
    const real = '{"q":1}';
    const expected = [call(0), given(0, real), ended(0), finished()];
    for (const placeholder of ['{}', ' { } ', '[]', 'null'])
      assert.deepEqual(passed(orderOf(), call(0), given(0, placeholder), given(0, real), finished()), expected);
    const mixed = [call(0), given(0, '{}'), call(1), given(1, '{}'), given(0, real), given(1, real), finished()];
    assert.deepEqual(passed(orderOf(), ...mixed), [
      ...[call(0), given(0, real), ended(0)],
      ...[call(1), given(1, real), ended(1)],
      finished(),
    ]);
    assert.deepEqual(passed(orderOf(), call(0), given(0, '{}'), text('a'), given(0, real)).at(-1), malformed);
  });

  it('passes a placeholder that no arguments follow', () => {
    const empty = (index: number) => [call(index), given(index, '{}'), ended(index)];
    const order = orderOf();
    assert.deepEqual(passed(order, call(0), given(0, '{}'), call(1), given(1, '{"b":1}')), [
      ...empty(0),
      call(1),
      given(1, '{"b":1}'),
    ]);
    assert.deepEqual(passed(order, call(2), given(2, '{}'), call(3), given(3, '{}'), finished()), [
      ended(1),
      ...empty(2),
      ...empty(3),
      finished(),
    ]);
    assert.deepEqual(passed(orderOf(), call(0), given(0, '{}'), call(1), text('a'), given(1, '{}'), finished()), [
      ...empty(0),
      ...empty(1),
      text('a'),
      finished(),
    ]);
    assert.deepEqual(passed(orderOf(false, ['t0']), call(0), given(0, '[]'), given(0, ' is a list'), finished()), [
      call(0),
      given(0, '[] is a list'),
      ended(0),
      finished(),
    ]);
  });

  it('takes an empty list and null for no arguments', () => {
    for (const nothing of ['null', '[]', ' [ ]'])
      for (const mustBeObjects of [true, false]) {
        const all = [call(0), given(0, nothing), call(1), given(1, nothing), finished()];
        assert.deepEqual(passed(orderOf(mustBeObjects), ...all), [
          ...[call(0), given(0, '{}'), ended(0)],
          ...[call(1), given(1, '{}'), ended(1)],
          finished(),
        ]);
      }
  });

  it('holds the pieces of other parts until the open call is whole, in the order in which the parts began', () => {
    const order = orderOf();
    const held = [
      call(1),
      given(1, '{"b"'),
      text('x'),
      given(1, ':2'),
      { kind: 'reasoning', text: 'y' } as const,
      call(2),
    ];
    assert.deepEqual(passed(order, call(0), given(0, '{"a":'), ...held, given(2, '{'), text('z')), [
      call(0),
      given(0, '{"a":'),
    ]);
    assert.deepEqual(steps(order, given(0, '1}'), given(1, '}')), [
      [given(0, '1}'), ended(0), call(1), given(1, '{"b":2')],
      [given(1, '}'), ended(1), text('x'), { kind: 'reasoning', text: 'y' }, call(2), given(2, '{')],
    ]);
    assert.deepEqual(steps(order, given(2, '}')), [[given(2, '}'), ended(2), text('z')]]);
    assert.equal(order.keptBytes, 0);
  });

  it('ends a call when its provider says so, whatever its arguments are', () => {
    const order = orderOf(false);
    assert.deepEqual(passed(order, call(0), given(0, '[1]'), call(1), given(1, '2'), ended(1), text('a')), [
      call(0),
      given(0, '[1]'),
    ]);
    assert.deepEqual(order.take(ended(0)), [ended(0), call(1), given(1, '2'), ended(1), text('a')]);
    assert.deepEqual(passed(order, ended(0), finished()), [finished()]);
  });

  it('passes all that waits at the end', () => {
    const order = orderOf();
    assert.deepEqual(passed(order, call(0), call(1), text('a'), given(1, '{"b":1}')), [call(0)]);
    assert.deepEqual(order.take(finished()), [
      given(0, '{}'),
      ended(0),
      call(1),
      given(1, '{"b":1}'),
      ended(1),
      text('a'),
      finished(),
    ]);
    assert.equal(order.keptBytes, 0);
  });

  it('counts the bytes of what waits', () => {
    const order = orderOf();
    passed(order, call(0), given(0, '{'.padEnd(100_000)));
    assert.equal(order.keptBytes, 0);
    passed(order, text('a'.repeat(1_000)));
    const { keptBytes } = order;
    assert.ok(keptBytes >= 1_000 && keptBytes < 2_000, String(keptBytes));
    passed(order, call(1), given(1, 'a'.repeat(1_000)));
    assert.ok(order.keptBytes >= 2_000 && order.keptBytes < 4_000, String(order.keptBytes));
    passed(order, given(0, '}'));
    assert.equal(order.keptBytes, 0);
  });

  it('gives a call without arguments an empty object, and one with a free text an empty text', () => {
    assert.deepEqual(passed(orderOf(), call(0), ended(0), call(1), given(1, ' '), finished()), [
      call(0),
      given(0, '{}'),
      ended(0),
      call(1),
      given(1, ' '),
      given(1, '{}'),
      ended(1),
      finished(),
    ]);
    assert.deepEqual(passed(orderOf(false, ['t0']), call(0), finished()), [call(0), ended(0), finished()]);
  });

  it('does not end a call that the limit of tokens cut off, and does not begin one that waits', () => {
    for (const cut of [' ', '{"b":'])
      assert.deepEqual(
        passed(
          orderOf(),
          call(0),
          given(0, '{"a":'),
          call(1),
          given(1, cut),
          call(2),
          given(2, '{}'),
          finished('length'),
        ),
        [call(0), given(0, '{"a":'), call(2), given(2, '{}'), ended(2), finished('length')],
      );
    // The provider ends each block, and then says why.
    assert.deepEqual(passed(orderOf(), call(0), given(0, '{"a":'), ended(0), finished('length')), [
      call(0),
      given(0, '{"a":'),
      finished('length'),
    ]);
  });

  it('is malformed if a call is cut off for another reason', () => {
    for (const cut of ['{', '{"a":1', '{"a":"x', '[', 'tru'])
      for (const mustBeObjects of [true, false])
        for (const reason of ['tool-calls', 'filtered'] as const)
          assert.deepEqual(passed(orderOf(mustBeObjects), call(0), given(0, cut), finished(reason), { kind: 'end' }), [
            ...[call(0), given(0, cut)],
            malformed,
          ]);
  });

  it('passes arguments that are no object only to a client that has them as a text', () => {
    for (const other of ['[1]', '"a"', '5']) {
      assert.deepEqual(passed(orderOf(true), call(0), given(0, other), finished()).at(-1), malformed, other);
      assert.deepEqual(passed(orderOf(false), call(0), given(0, other), finished()), [
        call(0),
        given(0, other),
        ended(0),
        finished(),
      ]);
    }
  });

  it('is malformed if arguments are no JSON', () => {
    for (const faulty of ['no JSON', '{"a":}', '{}{}', '{"p"{"p":1}'])
      for (const mustBeObjects of [true, false])
        assert.deepEqual(
          passed(orderOf(mustBeObjects), call(0), given(0, faulty), finished()).at(-1),
          malformed,
          faulty,
        );
  });

  it('passes a free text as the model wrote it, unless the object with it is cut off', () => {
    const order = () => orderOf(false, ['t0']);
    for (const whole of ['{"input":"a"}', '*** Begin Patch', 'tru', '[', ''])
      assert.deepEqual(passed(order(), call(0), given(0, whole), finished()).at(-1), finished(), whole);
    assert.deepEqual(passed(order(), call(0), given(0, '{"input":"a'), finished(), { kind: 'end' }).at(-1), malformed);
  });

  it('ends after the last piece of a call, given a reason that comes before it', () => {
    assert.deepEqual(
      steps(
        orderOf(),
        ...[call(0), call(1), given(0, '{"a":'), given(1, '{"b":'), finished(), given(0, '1}'), given(1, '2}')],
        { kind: 'end' },
      ).slice(4),
      [
        [],
        [given(0, '1}'), ended(0), call(1), given(1, '{"b":')],
        [given(1, '2}'), ended(1), finished()],
        [{ kind: 'end' }],
      ],
    );
  });

  it('is malformed if more comes of a call that has ended, but for spaces', () => {
    const order = orderOf();
    passed(order, call(0), given(0, '{}'), text('a'));
    assert.deepEqual(order.take(given(0, ' \n')), []);
    assert.deepEqual(order.take(given(0, '{}')), [malformed]);
    assert.deepEqual(orderOf().take(given(0, '{}')), [malformed]);
    const empty = orderOf();
    passed(empty, call(0), ended(0), text('a'));
    assert.deepEqual(empty.take(given(0, '{"y":2}')), [malformed]);
  });

  it('is malformed if a part of it is unreadable', () => {
    assert.deepEqual(orderOf().take({ kind: 'unreadable' }), [malformed]);
  });

  it('reads 100,000 pieces of calls that wait for each other without reading any twice', () => {
    const order = orderOf();
    const calls = 500;
    const pieces = 200;
    let events = 0;
    const take = (event: AnswerEvent) => {
      events += order.take(event).length;
    };
    for (let index = 0; index < calls; index += 1) take(call(index));
    for (let index = 0; index < calls; index += 1) take(given(index, '{"a":"'));
    for (let piece = 0; piece < pieces; piece += 1)
      for (let index = calls - 1; index >= 0; index -= 1) take(given(index, 'a'));
    for (let index = 0; index < calls; index += 1) take(given(index, '"}'));
    take(finished());
    // One beginning, one end and one last piece of each call, and the pieces of the first one.
    assert.ok(events > 3 * calls + pieces && events < 5 * calls + pieces + 10, String(events));
  });
});
