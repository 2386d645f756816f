import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { StoredEvent } from '#event-store/event-store.ts';
import { eventLine, eventOfLine } from '#event-store/transfer/log-file/event-line.ts';
import { itInRounds } from '#test/support/run/long.ts';

const event: StoredEvent = {
  stream: 'flow-1',
  revision: 0,
  id: '00000000-0000-4000-8000-000000000000',
  type: 'FlowCreated',
  data: '{"name":"one"}',
  metadata: '{"time":"now"}',
};

const space = fc.stringMatching(/^[ \t\r\n]{0,2}$/);
const numbers = fc.constantFrom('1.0', '1e400', '-0', '123456789012345678901234567890', '0.10', '1E+2', '-1e-400');
const key = fc.constantFrom('"a"', '"a"', '"__proto__"', '"metadata"', '"\\u0061"', '"}{"', '"\\\\"', '"\\""');

/** JSON objects as text in any notation: numbers beyond a double, duplicate keys, white space, escapes, depth. */
const { objectText } = fc.letrec<{ value: string; objectText: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 6, withCrossShrink: true },
    numbers,
    fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text)),
    fc.constantFrom('"\\u2028"', '"\u2028"', '"\\/"', '"\\ud800"', 'true', 'null', '"},\\"metadata\\":{"'),
    fc.array(tie('value'), { maxLength: 3 }).map((items) => `[${items.join(',')}]`),
    tie('objectText'),
  ),
  objectText: fc
    .array(fc.tuple(key, space, tie('value')), { maxLength: 4 })
    .chain((members) => space.map((between) => `{${members.map(([k, s, v]) => `${k}${s}:${v}`).join(`,${between}`)}}`)),
}));

const anyText = fc.oneof({ weight: 4, arbitrary: objectText }, fc.string({ unit: 'binary' }), fc.json());

describe('eventLine and eventOfLine', () => {
  it('writes the stored texts unchanged', () => {
    assert.equal(
      eventLine({ ...event, data: '{"n": 1.0}' }),
      '{"stream":"flow-1","revision":0,"id":"00000000-0000-4000-8000-000000000000","type":"FlowCreated",' +
        '"data":{"n": 1.0},"metadata":{"time":"now"}}',
    );
  });

  itInRounds('reads every text back unchanged from one line of JSON', { few: 150, many: 5_000 }, (numRuns) => {
    fc.assert(
      fc.property(
        fc.record({ data: anyText, metadata: anyText, stream: fc.string({ unit: 'binary' }), type: fc.string() }),
        fc.nat(),
        (texts, revision) => {
          const stored = { ...event, ...texts, revision };
          const line = Buffer.from(eventLine(stored)).toString();
          assert.deepEqual(eventOfLine(line), stored);
          assert.doesNotMatch(line, /[\r\n]/);
          assert.deepEqual(Object.keys(JSON.parse(line)), ['stream', 'revision', 'id', 'type', 'data', 'metadata']);
        },
      ),
      { numRuns },
    );
  });

  it('writes and reads JSON of extreme depth', () => {
    const deep = { ...event, data: `{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}` };
    assert.deepEqual(eventOfLine(eventLine(deep)), deep);
  });

  it('writes a text that is not a JSON object as a string', () => {
    for (const data of ['', '{', '[1]', 'no JSON', '{"a":1}{}', '{"a":1},"metadata":{}', '{\n}', ' {}'])
      assert.equal(JSON.parse(eventLine({ ...event, data })).data, data);
  });

  it('reads no line that it would not have written', () => {
    const line = eventLine(event);
    const wrong = [
      '',
      '{}',
      `${line} `,
      `${line}}`,
      line.slice(0, -1),
      line.replace('"revision":0', '"revision":-1'),
      line.replace('"revision":0', '"revision":0.5'),
      line.replace('"FlowCreated"', '1'),
      line.replace('{"name":"one"}', '{"name":one}'),
      line.replace('{"name":"one"}', '[1]'),
      line.replace('{"name":"one"}', '{"name":"one}'),
      line.replace('{"time":"now"}', 'null'),
      line.replace('"metadata"', '"other"'),
    ];
    for (const text of wrong) assert.equal(eventOfLine(text), null, text);
    fc.assert(
      fc.property(fc.nat({ max: line.length - 1 }), (length) => assert.equal(eventOfLine(line.slice(0, length)), null)),
    );
  });
});
