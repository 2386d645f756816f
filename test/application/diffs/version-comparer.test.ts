import assert from 'node:assert/strict';
import { VersionComparer, type VersionComparerLimits } from '#application/diffs/version-comparer.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import type { Json } from '#shared/json/json.ts';

const record = (flowSchema: Json) => JSON.stringify({ id: 'v', flowSchema });
const graph = (nodes: number, say: string) =>
  record({ nodes: Array.from({ length: nodes }, (_, at) => ({ id: `n${at}`, say: `${say} ${at}`, next: 'n0' })) });

describe('VersionComparer', () => {
  let open: VersionComparer[];
  const comparer = (limits: VersionComparerLimits = {}) => {
    const made = new VersionComparer(limits);
    open.push(made);
    return made;
  };
  beforeEach(() => {
    open = [];
  });
  afterEach(async () => {
    for (const each of open) await each.close();
  });

  it('gives the same result in a thread as in the calling thread for large versions', async () => {
    const [here, thread] = [
      comparer({ maxCharactersHere: Number.MAX_SAFE_INTEGER }),
      comparer({ maxCharactersHere: 0 }),
    ];
    const pairs: ReadonlyArray<readonly [Json, Json]> = [
      [{ nodes: { a: { say: 'hi' } } }, { nodes: { b: { say: 'ü"\\' } } }],
      [{ x: [1, 2, null] }, { x: [2, null] }],
      ['text', null],
      [{ same: true }, { same: true }],
    ];
    for (const [before, after] of pairs) {
      const comparison = { kind: 'flow-version', before: record(before), after: record(after) } as const;
      assert.equal((await thread.compare(comparison)).text, (await here.compare(comparison)).text);
    }
    const template = (label: string) =>
      JSON.stringify({ id: 't', payload: { flows: [] }, fieldsSchema: [{ key: 'k', label }] });
    const comparison = { kind: 'template-version', before: template('a'), after: template('b') } as const;
    assert.equal((await thread.compare(comparison)).text, (await here.compare(comparison)).text);
  });

  it('refuses a comparison that takes too long as unavailable, and compares the next one', async () => {
    const slow = comparer({ maxCharactersHere: 0, timeoutMs: 1 });
    const large = { kind: 'flow-version', before: graph(8000, 'a'), after: graph(8000, 'b') } as const;
    await assert.rejects(slow.compare(large), (error: unknown) => {
      assert.ok(error instanceof UnavailableError);
      assert.match(error.message, /longer than 0.001 s/);
      return true;
    });
    const { text } = await comparer().compare({ ...large, before: large.after });
    assert.equal(text, '{"patch":[],"summary":"The versions are equal."}');
  });

  it('refuses comparisons beyond those that may wait as unavailable', async () => {
    const busy = comparer({ maxCharactersHere: 0, maxQueue: 2 });
    const comparison = { kind: 'flow-version', before: graph(2000, 'a'), after: graph(2000, 'b') } as const;
    const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => busy.compare(comparison)));
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
    assert.ok(refused.length > 0 && refused.length < 8);
    for (const { reason } of refused) assert.match(String(reason), /Too many large versions/);
  });

  it('rejects a running comparison when it is closed', async () => {
    const closed = comparer({ maxCharactersHere: 0 });
    const comparison = { kind: 'flow-version', before: graph(8000, 'a'), after: graph(8000, 'b') } as const;
    const rejected = assert.rejects(closed.compare(comparison));
    await closed.close();
    await rejected;
  });
});
