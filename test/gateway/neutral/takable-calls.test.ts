import assert from 'node:assert/strict';
import type { Answer, AnswerPart } from '#gateway/neutral/answer.ts';
import { withTakableCalls } from '#gateway/neutral/takable-calls.ts';
import { freeTextTools } from '#test/gateway/support/free-text-tools.ts';

const text: AnswerPart = { kind: 'text', text: 'a' };
const call = (given: string): AnswerPart => ({ kind: 'tool-call', id: 'c', name: 't', arguments: given, state: null });
const answerOf = (reason: Answer['reason'], ...parts: ReadonlyArray<AnswerPart>): Answer => ({
  id: null,
  model: null,
  parts,
  reason,
  stopSequence: null,
  tokens: null,
});

const partsOf = (answer: Answer, mustBeObjects: boolean, freeTexts: ReadonlyArray<string> = []) =>
  withTakableCalls(answer, { mustBeObjects, tools: freeTextTools(freeTexts) })?.parts;

describe('the calls of a whole answer', () => {
  it('keep their arguments to the byte, and empty ones are an empty object', () => {
    for (const mustBeObjects of [true, false]) {
      assert.deepEqual(partsOf(answerOf('tool-calls', text, call(' {"a": 1.0}')), mustBeObjects), [
        text,
        call(' {"a": 1.0}'),
      ]);
      for (const nothing of ['', 'null', '[]'])
        assert.deepEqual(partsOf(answerOf('tool-calls', call(nothing)), mustBeObjects), [call('{}')]);
    }
  });

  it('leave out the one that the limit of tokens cut off', () => {
    for (const cut of ['', '{', '{"a":"x'])
      assert.deepEqual(partsOf(answerOf('length', text, call('{"a":1}'), call(cut)), false), [text, call('{"a":1}')]);
  });

  it('are not known if one is cut off for another reason', () => {
    for (const reason of ['stop', 'stop-sequence', 'tool-calls', 'filtered'] as const)
      for (const mustBeObjects of [true, false])
        assert.equal(partsOf(answerOf(reason, text, call('{"a":"x')), mustBeObjects), undefined);
  });

  it('may be no objects for a client that has them as a text', () => {
    for (const other of ['[1]', '5']) {
      assert.equal(partsOf(answerOf('tool-calls', call(other)), true), undefined, other);
      assert.deepEqual(partsOf(answerOf('tool-calls', call(other)), false), [call(other)]);
    }
  });

  it('are not known if the arguments of one are no JSON', () => {
    for (const faulty of ['no JSON', '{"p"{"p":1}', '{}{"q":1}'])
      for (const mustBeObjects of [true, false])
        assert.equal(partsOf(answerOf('tool-calls', call(faulty)), mustBeObjects), undefined, faulty);
  });

  it('may be a free text, as the model wrote it', () => {
    for (const free of ['', '{"input":"a"}', '*** Begin Patch', '['])
      assert.deepEqual(partsOf(answerOf('tool-calls', call(free)), false, ['t']), [call(free)]);
    assert.equal(partsOf(answerOf('tool-calls', call('{"input":"a')), false, ['t']), undefined);
    assert.deepEqual(partsOf(answerOf('length', call('{"input":"a')), false, ['t']), []);
  });
});
