import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import * as E from 'fp-ts/lib/Either.js';
import type { Comparison } from '#application/diffs/compare-versions.ts';
import { VersionComparer, type VersionComparerOptions } from '#application/diffs/version-comparer.ts';
import { Admission } from '#exchange/admission.ts';
import { runFor } from '#shared/async/fair-queue.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import type { Json } from '#shared/json/json.ts';

const record = (flowSchema: Json) => JSON.stringify({ id: 'v', flowSchema });
const graph = (nodes: number, say: string) =>
  record({ nodes: Array.from({ length: nodes }, (_, at) => ({ id: `n${at}`, say: `${say} ${at}`, next: 'n0' })) });

describe('VersionComparer', () => {
  let open: VersionComparer[];
  const comparer = (options: Partial<VersionComparerOptions> = {}) => {
    const made = new VersionComparer({ admission: new Admission(), ...options });
    open.push(made);
    return made;
  };
  const textOf = async (compared: ReturnType<VersionComparer['compare']>) => {
    const outcome = await compared;
    assert.ok(E.isRight(outcome), 'it is refused');
    return outcome.right.text;
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
      assert.equal(await textOf(thread.compare(comparison)), await textOf(here.compare(comparison)));
    }
    const template = (label: string) =>
      JSON.stringify({ id: 't', payload: { flows: [] }, fieldsSchema: [{ key: 'k', label }] });
    const comparison = { kind: 'template-version', before: template('a'), after: template('b') } as const;
    assert.equal(await textOf(thread.compare(comparison)), await textOf(here.compare(comparison)));
  });

  it('refuses a comparison that takes too long as unavailable, and compares the next one', async () => {
    const slow = comparer({ maxCharactersHere: 0, timeoutMs: 1 });
    const large = { kind: 'flow-version', before: graph(8000, 'a'), after: graph(8000, 'b') } as const;
    await assert.rejects(slow.compare(large), (error: unknown) => {
      assert.ok(error instanceof UnavailableError);
      assert.match(error.message, /longer than 0.001 s/);
      return true;
    });
    const text = await textOf(comparer().compare({ ...large, before: large.after }));
    assert.equal(text, '{"patch":[],"summary":"The versions are equal."}');
  });

  it('names the thread that runs out of memory, and compares the next versions in a new one', async () => {
    const heap = { thread: 'compares versions', maxOldGenerationSizeMb: 12, maxYoungGenerationSizeMb: 2 };
    const small = comparer({ maxCharactersHere: 0, heap });
    const large = { kind: 'flow-version', before: graph(60_000, 'a'), after: graph(60_000, 'b') } as const;
    await assert.rejects(small.compare(large), /The thread that compares versions has run out of memory.* 12 MB/);
    const few = { kind: 'flow-version', before: graph(2, 'a'), after: graph(2, 'a') } as const;
    assert.match(await textOf(small.compare(few)), /"patch":\[\]/);
  });

  const middling: Comparison = { kind: 'flow-version', before: graph(2000, 'a'), after: graph(2000, 'b') };
  /** Compares for projects, and returns for each how it went, in the order of the ends. */
  const outcomesOf = async (made: VersionComparer, projects: ReadonlyArray<string>) => {
    const ends: string[] = [];
    const compare = async (project: string) => {
      const outcome = await runFor(project, () => made.compare(middling));
      ends.push(`${project} ${E.isLeft(outcome) ? outcome.left.code : 'compared'}`);
    };
    const settled = await Promise.allSettled(projects.map(compare));
    const thrown = settled.flatMap((each) => (each.status === 'rejected' ? [String(each.reason)] : []));
    return { ends, thrown };
  };

  it('lets two comparisons of a project wait, refuses the third, and compares for projects in turn', async () => {
    const { ends, thrown } = await outcomesOf(comparer({ maxCharactersHere: 0 }), ['a', 'a', 'a', 'a', 'b', 'b']);
    assert.deepEqual(ends, ['a too-many-calls', 'a compared', 'a compared', 'b compared', 'a compared', 'b compared']);
    assert.deepEqual(thrown, []);
  });

  it('refuses comparisons as unavailable while those of many projects wait', async () => {
    const admission = new Admission({ limits: { slots: { 'large comparison': { maxWaiting: 3 } } } });
    const { ends, thrown } = await outcomesOf(comparer({ maxCharactersHere: 0, admission }), ['a', 'b', 'c', 'd', 'e']);
    assert.deepEqual(ends, ['a compared', 'b compared', 'c compared', 'd compared']);
    assert.equal(thrown.length, 1);
    assert.match(thrown[0] ?? '', /Too many large versions/);
  });

  it('frees the thread when a comparison fails', async () => {
    const made = comparer({ maxCharactersHere: 0 });
    await assert.rejects(made.compare({ ...middling, before: 'no JSON' }), SyntaxError);
    assert.ok((await textOf(made.compare(middling))).length > 0);
  });

  it('rejects running and waiting comparisons when it is closed', async () => {
    const closed = comparer({ maxCharactersHere: 0 });
    const comparison = { kind: 'flow-version', before: graph(8000, 'a'), after: graph(8000, 'b') } as const;
    const rejected = [closed.compare(comparison), closed.compare(comparison)].map((compared) =>
      assert.rejects(compared),
    );
    await nextTurn();
    await closed.close();
    await Promise.all(rejected);
  });

  it('starts no thread after it is closed', async () => {
    const closed = comparer({ maxCharactersHere: 0 });
    const rejected = assert.rejects(closed.compare(middling), UnavailableError);
    await closed.close();
    await rejected;
  });
});
