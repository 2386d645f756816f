import assert from 'node:assert/strict';
import fc from 'fast-check';
import { maxToolCalls } from '#gateway/neutral/answer-event.ts';
import { StreamedCalls } from '#gateway/protocols/openai-chat/streamed-calls.ts';
import type { Json, JsonObject } from '#shared/json/json.ts';

/** A piece of a call as a provider sends it, whatever it leaves out. */
function piece(text: Json | undefined, more: { index?: Json; id?: Json; name?: Json } = {}): JsonObject {
  const { name, ...around } = more;
  return {
    ...around,
    function: { ...(name === undefined ? {} : { name }), ...(text === undefined ? {} : { arguments: text }) },
  };
}

/** Reads chunks, and returns each call with its arguments, in the order of their beginnings. */
function callsOf(...chunks: ReadonlyArray<JsonObject | ReadonlyArray<JsonObject>>) {
  const calls = new StreamedCalls('p/m');
  const found: { id: string; name: string; text: string }[] = [];
  for (const event of chunks.flatMap((chunk) => calls.read([chunk].flat() as ReadonlyArray<JsonObject>)))
    if (event.kind === 'tool-call') {
      assert.equal(event.index, found.length, 'calls are counted in order');
      found.push({ id: event.id, name: event.name, text: '' });
    } else if (event.kind === 'arguments') (found[event.index] ?? assert.fail('no call')).text += event.text;
    else assert.fail(`there is ${event.kind}`);
  return { found, hasNameless: calls.hasNameless };
}

const said = (...chunks: ReadonlyArray<JsonObject | ReadonlyArray<JsonObject>>) =>
  callsOf(...chunks).found.map(({ name, text }) => [name, text]);

const both = [
  ['look', '{"a":1}'],
  ['list', '{"b":2}'],
];
const reads = [
  ['read', '{"path":"a"}'],
  ['read', '{"path":"b"}'],
];

describe('StreamedCalls', () => {
  for (const index of [undefined, null, 0])
    describe(`given calls whose index is ${index === undefined ? 'missing' : index}`, () => {
      const at = index === undefined ? {} : { index };

      it('begins a call with each new id, when each comes in one piece', () => {
        assert.deepEqual(
          said(
            piece('{"a":1}', { ...at, id: 'c1', name: 'look' }),
            piece('{"b":2}', { ...at, id: 'c2', name: 'list' }),
          ),
          both,
        );
      });

      it('begins a call with each new id, when both are of one tool', () => {
        assert.deepEqual(
          said(
            piece('', { ...at, id: 'c1', name: 'read' }),
            piece('{"path":', { ...at, id: '' }),
            piece('"a"}', at),
            piece('', { ...at, id: 'c2', name: 'read' }),
            piece('{"path":"b"}', at),
          ),
          reads,
        );
      });

      it('continues the call of an id, when each piece has it and they are mixed', () => {
        assert.deepEqual(
          said(
            piece('{"a"', { ...at, id: 'c1', name: 'look' }),
            piece('{"b":', { ...at, id: 'c2', name: 'list' }),
            piece(':1}', { ...at, id: 'c1' }),
            piece('2}', { ...at, id: 'c2', name: 'list' }),
          ),
          both,
        );
      });

      it('begins a call with each new name, when none has an id', () => {
        assert.deepEqual(
          said(piece('{"a":', { ...at, name: 'look' }), piece('1}', at), piece('{"b":2}', { ...at, name: 'list' })),
          both,
        );
      });

      it('keeps two calls of one tool apart that have no id, when the arguments of the first are whole', () => {
        const [first, second] = ['{"path":"a"}', '{"path":"b"}'];
        assert.deepEqual(said(piece(first, { ...at, name: 'read' }), piece(second, { ...at, name: 'read' })), reads);
        const begin = piece('', { ...at, name: 'read' });
        assert.deepEqual(said(begin, piece(first, at), begin, piece(second, at)), reads);
        assert.deepEqual(said([piece(first, { ...at, name: 'read' }), piece(second, { ...at, name: 'read' })]), reads);
      });

      it('continues a call, when its name comes with each piece', () => {
        const named = { ...at, name: 'look' };
        assert.deepEqual(said(piece('', named), piece('{"a"', named), piece(':1}', named), piece('', named)), [
          both[0],
        ]);
      });
    });

  it('begins two calls, given two in one chunk without index and id', () => {
    assert.deepEqual(said([piece('', { name: 'read' }), piece('', { name: 'read' })]), [
      ['read', ''],
      ['read', ''],
    ]);
  });

  it('puts pieces to the calls of their indexes, given calls that are mixed', () => {
    assert.deepEqual(
      said(
        piece('', { index: 0, id: 'c1', name: 'look' }),
        piece('', { index: 1, id: 'c2', name: 'list' }),
        piece('{"b":', { index: 1 }),
        [piece('{"a":1}', { index: 0 }), piece('2}', { index: 1 })],
      ),
      both,
    );
  });

  it('continues a call, given another index with the same id', () => {
    const id = 'c1';
    assert.deepEqual(said(piece('{"a"', { index: 0, id, name: 'look' }), piece(':1}', { index: 7, id })), [both[0]]);
  });

  it('continues a call, given another id with each piece of it as of vLLM', () => {
    assert.deepEqual(
      said(
        piece('', { index: 0, id: 'r1', name: 'look' }),
        piece('{"a"', { index: 0, id: 'r2' }),
        piece(':1}', { index: 0, id: 'r3' }),
        piece('', { index: 0, id: 'r4' }),
        piece('', { index: 1, id: 'r5', name: 'list' }),
        piece('{"b":2}', { index: 1, id: 'r6' }),
      ),
      both,
    );
  });

  it('continues the calls of their order, given an index that comes later than their beginnings', () => {
    assert.deepEqual(
      said(
        piece('', { id: 'c1', name: 'look' }),
        piece('', { id: 'c2', name: 'list' }),
        piece('{"a":1}', { index: 0 }),
        piece('{"b":2}', { index: 1 }),
      ),
      both,
    );
  });

  it('holds a call, given a name that comes after its id and its first arguments', () => {
    const calls = new StreamedCalls('p/m');
    const begin = [piece(undefined, { index: 0, id: 'c1' }), piece('{"a"', { index: 0 })];
    assert.deepEqual(
      begin.flatMap((each) => calls.read([each])),
      [],
    );
    assert.equal(calls.hasNameless, true);
    assert.ok(calls.keptBytes > 0);
    assert.deepEqual(calls.read([piece(':1}', { index: 0, name: 'look' })]), [
      { kind: 'tool-call', index: 0, id: 'c1', name: 'look', state: null },
      { kind: 'arguments', index: 0, text: '{"a":1}' },
    ]);
    assert.equal(calls.hasNameless, false);
  });

  it('is one call, given an id that comes after its name', () => {
    assert.deepEqual(said(piece('', { name: 'look' }), piece('{"a":1}', { id: 'c1' }), piece('', { id: 'c1' })), [
      both[0],
    ]);
  });

  it('gives each call an id of its own, given none, empty ones and equal ones', () => {
    for (const id of [undefined, null, '', ' ', 'c1']) {
      const at = id === undefined ? {} : { id };
      const { found } = callsOf(
        [piece('{"a":1}', { index: 0, name: 'look', ...at }), piece('{"b":2}', { index: 1, name: 'list', ...at })],
        piece('', { index: 0 }),
      );
      assert.deepEqual(
        found.map(({ name, text }) => [name, text]),
        both,
        String(id),
      );
      assert.ok(found.every((call) => call.id.trim() !== ''));
      assert.equal(new Set(found.map((call) => call.id)).size, 2);
    }
  });

  it('keeps equal ids of calls of one tool apart by their indexes', () => {
    const id = 'read';
    assert.deepEqual(
      said(
        [piece('', { index: 0, id, name: 'read' }), piece('', { index: 1, id, name: 'read' })],
        [piece('{"path":"a"}', { index: 0, id }), piece('{"path":"b"}', { index: 1, id })],
      ),
      reads,
    );
  });

  it('keeps equal ids of calls of one tool apart by their indexes, given pieces that are mixed', () => {
    const id = 'c';
    for (const more of [{}, { id }])
      assert.deepEqual(
        said(
          piece('{"path":', { index: 0, id, name: 'read' }),
          piece('{"path":', { index: 1, id, name: 'read' }),
          piece('"a"}', { index: 0, ...more }),
          piece('"b"}', { index: 1, ...more }),
        ),
        reads,
      );
  });

  for (const index of [0, undefined])
    it(`is one call, given a whole one that comes again ${index === undefined ? 'without' : 'with'} its index`, () => {
      const at = index === undefined ? { id: 'c1' } : { id: 'c1', index };
      const again = [piece('{"a":1}', { ...at, name: 'look' }), piece('{"a":1}', at)];
      for (const last of again)
        assert.deepEqual(said(piece('{"a"', { ...at, name: 'look' }), piece(':1}', at), last), [both[0]]);
    });

  it('begins no call, given other arguments with the index and the id of one', () => {
    const at = { index: 0, id: 'c1', name: 'look' };
    assert.deepEqual(said(piece('{"a":1}', at), piece('{"a":2}', at)), [['look', '{"a":1}{"a":2}']]);
  });

  it('continues the latest call, given an index that counts from one and comes later than its beginning', () => {
    assert.deepEqual(
      said(
        piece('{"a":', { id: 'c1', name: 'look' }),
        piece('1}', { index: 1 }),
        piece('', { id: 'c2', name: 'list' }),
        piece('{"b":2}', { index: 2 }),
      ),
      both,
    );
  });

  it('has no call without a name, given an id alone', () => {
    assert.equal(callsOf(piece(undefined, { index: 0, id: 'c1' })).hasNameless, false);
  });

  it('takes arguments that are no text as their JSON text, and a call without `function`', () => {
    assert.deepEqual(said(piece({ a: 1 }, { name: 'look' }), { name: 'list', arguments: { b: 2 } }), both);
    assert.deepEqual(said(piece(null, { name: 'look' }), piece({}, { name: 'list' })), [
      ['look', ''],
      ['list', '{}'],
    ]);
  });

  it('says nothing, given pieces without anything in them', () => {
    const { found, hasNameless } = callsOf(
      piece('', { index: 0 }),
      { index: 3 },
      {},
      piece(null, { id: '', name: null }),
    );
    assert.deepEqual([found, hasNameless], [[], false]);
  });

  it('keeps at most a thousand calls', () => {
    const calls = new StreamedCalls('p/m');
    const all = Array.from({ length: maxToolCalls + 1 }, (_, index) => piece('', { index, name: 'f' }));
    assert.equal(calls.read(all).at(-1)?.kind, 'too-large');
  });

  it('finds the calls again, given any of the ways in which providers number and name them', () => {
    const call = fc.record({
      name: fc.constantFrom('a', 'b'),
      value: fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 2 }),
    });
    const way = fc.record({
      index: fc.constantFrom('own', 'zero', 'none'),
      ids: fc.constantFrom('first', 'each', 'none'),
      names: fc.constantFrom('first', 'each'),
      /** Whether all calls have one id, and whether the calls come again at the end. */
      hasEqualIds: fc.boolean(),
      isRepeated: fc.boolean(),
      size: fc.integer({ min: 1, max: 7 }),
      /** From which of the calls the next piece is, by their pieces that are left; empty for one call after the other. */
      picks: fc.array(fc.nat(), { maxLength: 20 }),
    });
    fc.assert(
      fc.property(fc.array(call, { minLength: 1, maxLength: 4 }), way, (asked, style) => {
        const { index, ids, names, size, picks } = style;
        const idAt = (place: number) => (style.hasEqualIds && index === 'own' ? 'c' : `c${place}`);
        const queues = asked.map(({ name, value }, place) =>
          cut(JSON.stringify(value), size).map((text, at) => ({
            place,
            sent: piece(text, {
              ...(index === 'none' ? {} : { index: index === 'own' ? place : 0 }),
              ...(ids === 'each' || (ids === 'first' && at === 0) ? { id: idAt(place) } : {}),
              ...(names === 'each' || at === 0 ? { name } : {}),
            }),
          })),
        );
        // Without one of both nobody can know to which call a piece belongs.
        const canMix = index === 'own' || ids === 'each';
        const pieces = mixed(queues, canMix ? picks : []);
        const repeated = asked.map(({ name, value }, place) =>
          piece(JSON.stringify(value), { ...(index === 'own' ? { index: place } : {}), id: idAt(place), name }),
        );
        const order = [...new Set(pieces.map(({ place }) => place))].map((place) => asked[place]);
        assert.deepEqual(
          said(...pieces.map(({ sent }) => sent), ...(style.isRepeated && ids !== 'none' ? repeated : [])),
          order.map((each) => [each?.name, JSON.stringify(each?.value)]),
        );
      }),
      { numRuns: 1_000 },
    );
  });
});

function cut(text: string, size: number): ReadonlyArray<string> {
  return Array.from({ length: Math.ceil(text.length / size) }, (_, at) => text.slice(at * size, at * size + size));
}

/** Takes pieces from several queues, and what is left of them one after the other. */
function mixed<Piece>(queues: ReadonlyArray<ReadonlyArray<Piece>>, picks: ReadonlyArray<number>): ReadonlyArray<Piece> {
  const left = queues.map((queue) => [...queue]);
  const taken = picks.flatMap((pick) => {
    const open = left.filter(({ length }) => length > 0);
    return open[pick % Math.max(1, open.length)]?.splice(0, 1) ?? [];
  });
  return [...taken, ...left.flat()];
}
