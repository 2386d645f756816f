import assert from 'node:assert/strict';
import fc from 'fast-check';
import { joinTurns, type Part, type Turn } from '#gateway/neutral/conversation.ts';
import { pairCalls } from '#gateway/neutral/paired-calls.ts';

const text = (value: string): Part => ({ kind: 'text', text: value, pointer: `/${value}` });
const call = (id: string, pointer = `/call-${id}`): Part => ({
  ...{ kind: 'tool-call', id, name: 'look', arguments: '{}', state: null, pointer },
});
const result = (callId: string, value = callId): Part => ({
  ...{ kind: 'tool-result', callId, isError: false, parts: [{ kind: 'text', text: value, pointer: '' }] },
  pointer: `/result-${callId}`,
});
const said = (role: Turn['role'], ...parts: ReadonlyArray<Part>): Turn => ({ role, parts });

/** A turn in short: its role, and each call, result and text by its id or words. */
function shown({ role, parts }: Turn): string {
  const words = parts.map((part) => {
    if (part.kind === 'tool-call') return `call ${part.id}`;
    if (part.kind === 'tool-result') return `result ${part.callId}: ${part.parts.map((p) => shownPart(p)).join('+')}`;
    return shownPart(part);
  });
  return `${role}: ${words.join(', ')}`;
}

function shownPart(part: Part): string {
  return part.kind === 'text' ? part.text : part.kind;
}

const paired = (...turns: ReadonlyArray<Turn>): ReadonlyArray<string> => pairCalls(joinTurns(turns)).map(shown);

describe('pairCalls', () => {
  it('given a text of the user between a call and its result then the result comes first', () => {
    assert.deepEqual(paired(said('assistant', call('a')), said('user', text('stop?'), result('a'))), [
      'assistant: call a',
      'user: result a: a, stop?',
    ]);
  });

  it('given a text of the system between a call and its result then it follows the result', () => {
    const turns = [said('assistant', call('a')), said('system', text('note')), said('user', result('a'))];
    assert.deepEqual(paired(...turns), ['assistant: call a', 'user: result a: a', 'system: note']);
  });

  it('given results in another order, in several turns then they follow in the order of the calls', () => {
    const turns = [
      said('assistant', call('a'), call('b')),
      said('user', result('b'), text('wait')),
      said('system', text('note')),
      said('user', result('a'), text('go')),
    ];
    assert.deepEqual(paired(...turns), [
      'assistant: call a, call b',
      'user: result a: a, result b: b, wait',
      'system: note',
      'user: go',
    ]);
  });

  it('given another call before the result of the first then each is followed by its own', () => {
    const turns = [
      said('assistant', call('a')),
      said('user', text('and?')),
      said('assistant', call('b')),
      said('user', result('a'), result('b')),
    ];
    assert.deepEqual(paired(...turns), [
      'assistant: call a',
      'user: result a: a, and?',
      'assistant: call b',
      'user: result b: b',
    ]);
  });

  it('given a result far later then what was said between stays in its order', () => {
    const turns = [
      said('assistant', call('a')),
      said('user', text('one')),
      said('assistant', text('two')),
      said('user', text('three'), result('a')),
    ];
    assert.deepEqual(paired(...turns), [
      'assistant: call a',
      'user: result a: a, one',
      'assistant: two',
      'user: three',
    ]);
  });

  it('given a result before its call then it follows the call', () => {
    const turns = [
      said('assistant', text('hm')),
      said('user', result('a')),
      said('assistant', call('a')),
      said('user', text('go')),
    ];
    assert.deepEqual(paired(...turns), ['assistant: hm, call a', 'user: result a: a, go']);
  });

  it('given the same id in each answer then each call has its own result and an id of its own', () => {
    const turns = ['one', 'two'].flatMap((value) => [said('assistant', call('a')), said('user', result('a', value))]);
    assert.deepEqual(paired(...turns), [
      'assistant: call a',
      'user: result a: one',
      'assistant: call a_2',
      'user: result a_2: two',
    ]);
  });

  it('given calls without an id then each gets one', () => {
    const turns = [said('assistant', call(''), call('')), said('user', result('', 'one'), result('', 'two'))];
    assert.deepEqual(paired(...turns), [
      'assistant: call call_2, call call_3',
      'user: result call_2: one, result call_3: two',
    ]);
  });

  it('given two results of one call then they are one', () => {
    assert.deepEqual(paired(said('assistant', call('a')), said('user', result('a', 'one'), result('a', 'two'))), [
      'assistant: call a',
      'user: result a: one+two',
    ]);
  });

  it('given a result twice then it comes once, and goes to no later call of its id', () => {
    const turns = [
      said('assistant', call('a')),
      said('user', result('a', 'one'), result('a', 'one')),
      said('assistant', call('a')),
      said('user', result('a', 'two')),
    ];
    assert.deepEqual(paired(...turns), [
      'assistant: call a',
      'user: result a: one',
      'assistant: call a_2',
      'user: result a_2: two',
    ]);
  });

  it('given a call without a result, and then one of its id with a result, then the first stays without', () => {
    const turns = [
      said('assistant', call('a')),
      said('user', text('stop')),
      said('assistant', call('a')),
      said('user', result('a')),
    ];
    assert.deepEqual(paired(...turns), [
      'assistant: call a',
      'user: stop',
      'assistant: call a_2',
      'user: result a_2: a',
    ]);
  });

  it('given a call without a result, or a result without a call, then it stays where it is', () => {
    assert.deepEqual(paired(said('assistant', call('a')), said('user', text('hi'))), ['assistant: call a', 'user: hi']);
    assert.deepEqual(paired(said('user', text('hi'), result('a'), text('go'))), ['user: hi, result a: a, go']);
    assert.deepEqual(paired(said('assistant', call('a'), call('b')), said('user', text('hi'), result('b'))), [
      'assistant: call a, call b',
      'user: result b: b, hi',
    ]);
  });

  it('given any order of calls, results and texts then providers take it and every part is there once', () => {
    const roles = fc.constantFrom<Turn['role']>('user', 'system', 'assistant');
    const texts = fc.array(fc.tuple(roles, fc.stringMatching(/^[a-z]{1,4}$/)), { maxLength: 8 });
    const calls = fc.uniqueArray(fc.integer({ min: 0, max: 20 }), { maxLength: 6 });
    const turns = fc.tuple(texts, calls).chain(([words, ids]) => {
      const all = [
        ...words.map(([role, word]) => said(role, text(word))),
        ...ids.flatMap((id) => [said('assistant', call(`c${id}`)), said('user', result(`c${id}`))]),
      ];
      return fc.shuffledSubarray(all, { minLength: all.length });
    });
    fc.assert(
      fc.property(turns, (given) => {
        const found = pairCalls(joinTurns(given));
        const order = (all: ReadonlyArray<Turn>) => all.flatMap(({ role, parts }) => parts.map((part) => [role, part]));
        const kept = (all: ReadonlyArray<Turn>) => order(all).map((each) => JSON.stringify(each));
        assert.deepEqual(kept(found).toSorted(), kept(given).toSorted());
        const isSaid = (each: string) => !each.includes('"tool-result"');
        assert.deepEqual(kept(found).filter(isSaid), kept(given).filter(isSaid));
        for (const [index, { parts }] of found.entries()) {
          const called = parts.flatMap((part) => (part.kind === 'tool-call' ? [part.id] : []));
          const next: ReadonlyArray<Part> = found[index + 1]?.parts.slice(0, called.length) ?? [];
          assert.deepEqual(
            next.map((part) => (part.kind === 'tool-result' ? part.callId : null)),
            called,
          );
        }
      }),
      { numRuns: 300 },
    );
  });

  it('given 20,000 calls of one id, with all results at the end, then it takes linear time', () => {
    const count = 20_000;
    const turns = [
      ...Array.from({ length: count }, () => said('assistant', call('a'))),
      ...Array.from({ length: count }, () => said('user', result('a'))),
    ];
    const [calls, results] = pairCalls(joinTurns(turns));
    assert.deepEqual([calls?.parts.length, results?.parts.length], [count, count]);
  }).timeout(5_000);
});
