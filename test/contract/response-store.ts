import assert from 'node:assert/strict';
import type { ResponseOutline, ResponseStore, StoredResponse } from '#responses/response-store.ts';
import { InMemoryResponseStore } from '#test/support/fakes/in-memory-response-store.ts';
import { providerCopiesContract } from './provider-copies.ts';

const project = 'project1';

/** A stored response for tests. */
export function storedResponse(id: string, other: Partial<StoredResponse> = {}): StoredResponse {
  return {
    projectId: project,
    id,
    conversation: id,
    depth: 0,
    previous: null,
    at: 1_000,
    bytes: 10,
    isDeleted: false,
    needs: [],
    items: [`item-of-${id}`],
    ancestors: [],
    provider: null,
    background: null,
    content: `content of ${id}`,
    ...other,
  };
}

function outlineOf({ content: _, needs: __, items: ___, ...outline }: StoredResponse): ResponseOutline {
  return outline;
}

/** As outlines come together: only one of them has its ancestors. */
function withoutAncestorsBut(id: string): (outline: ResponseOutline) => ResponseOutline {
  return (outline) => (outline.id === id ? outline : { ...outline, ancestors: null });
}

/** Opens an empty store. */
export type OpenResponseStore = () => Promise<{
  readonly store: ResponseStore;
  readonly dispose: () => Promise<void>;
}>;

/** What every store of responses does. */
export function responseStoreContract(name: string, open: OpenResponseStore): void {
  providerCopiesContract(name, open);

  describe(`the stored responses on ${name}`, () => {
    let store: ResponseStore;
    let dispose: () => Promise<void>;
    /** Of the project, and of another one. */
    let subject: string;
    let subject2: string;
    beforeEach(async () => {
      ({ store, dispose } = await open());
      [subject, subject2] = [await store.subjectOf(project), await store.subjectOf('project2')];
    });
    afterEach(async () => {
      await store.close();
      await dispose();
    });

    const addAll = async (...responses: ReadonlyArray<StoredResponse>) => {
      for (const response of responses)
        assert.equal(await store.add(response, response.projectId === project ? subject : subject2), 'stored');
    };
    const isThere = async (id: string) => (await store.find(project, id)) !== null;
    const removeAll = async () => {
      while ((await store.removeUnneeded(project)).length > 0);
    };
    const erasure = () => ({ projectId: project, subject, at: 5_000 });
    const eraseAll = async () => {
      await store.beginErasure(erasure());
      for (let after: string | null = ''; after !== null; ) after = await store.eraseSome(erasure(), after);
    };
    const ids = (found: ReadonlyArray<{ readonly id: string }>) => found.map(({ id }) => id).sort();

    it('finds a response by its project and id, and nobody else’s', async () => {
      const first = storedResponse('r1');
      await addAll(first, storedResponse('r1', { projectId: 'project2', content: 'of another project' }));
      assert.deepEqual(await store.find(project, 'r1'), first);
      assert.equal((await store.find('project2', 'r1'))?.content, 'of another project');
      assert.equal(await store.find('project3', 'r1'), null);
      assert.equal(await store.find(project, 'r2'), null);
    });

    it('keeps the first response of an id', async () => {
      await addAll(storedResponse('r1'), storedResponse('r1', { content: 'other', bytes: 99 }));
      assert.equal((await store.find(project, 'r1'))?.content, 'content of r1');
      assert.deepEqual(await store.amountOf(project), { count: 1, bytes: 10, oldestAt: 1_000 });
    });

    it('finishes a response that is made in the background, once', async () => {
      const background = { model: 'fast', target: 'openai/gpt-x' };
      const pending = storedResponse('r1', { background, provider: 'openai', items: ['a'] });
      await addAll(pending, storedResponse('r2'), storedResponse('r1', { projectId: 'project2' }));
      assert.deepEqual(await store.find(project, 'r1'), pending);
      const finished = { projectId: project, id: 'r1', bytes: 25, items: ['b'], content: 'finished' };
      assert.equal(await store.finish(finished, subject), 'stored');
      assert.deepEqual(await store.find(project, 'r1'), {
        ...{ ...pending, ...finished },
        ...{ items: ['a', 'b'], background: null },
      });
      assert.deepEqual(ids(await store.ofItems(project, ['b'], [])), ['r1']);
      assert.deepEqual(await store.amountOf(project), { count: 2, bytes: 35, oldestAt: 1_000 });
      assert.equal(await store.finish({ ...finished, content: 'again' }, subject), 'before');
      assert.equal((await store.find(project, 'r1'))?.content, 'finished');
      for (const id of ['r2', 'r3']) assert.equal(await store.finish({ ...finished, id }, subject), 'before');
      assert.equal(await store.finish(finished, 'another'), 'erased');
      await store.markDeleted(project, ['r1']);
      await removeAll();
      assert.deepEqual(ids(await store.ofItems(project, ['a', 'b'], [])), []);
      assert.deepEqual(await store.amountOf(project), { count: 1, bytes: 10, oldestAt: 1_000 });
    });

    it('lists outlines, deleted or not, with the ancestors of the last one alone', async () => {
      const first = storedResponse('r1');
      const second = storedResponse('r2', {
        ...{ provider: 'openai', conversation: 'r1', depth: 1, previous: 'r1', needs: ['r1'], ancestors: ['r1'] },
      });
      const third = storedResponse('r3', {
        ...{ conversation: 'r1', depth: 2, previous: 'r2', needs: ['r2'], ancestors: ['r2', 'r1'] },
      });
      await addAll(first, second, third, storedResponse('r4'), storedResponse('r2', { projectId: 'project2' }));
      await store.markDeleted(project, ['r2']);
      const outlines = async (...asked: ReadonlyArray<string>) =>
        [...(await store.outlines(project, asked))].sort((one, other) => one.depth - other.depth);
      const [one, two] = [outlineOf(first), { ...outlineOf(second), isDeleted: true }];
      assert.deepEqual(await outlines('r3', 'r2', 'r1'), [one, two, outlineOf(third)].map(withoutAncestorsBut('r1')));
      assert.deepEqual(await outlines('r9', 'r1', 'r2'), [one, two].map(withoutAncestorsBut('r2')));
      assert.deepEqual(await outlines('r1', 'r9'), [one].map(withoutAncestorsBut('r9')));
      assert.deepEqual(await outlines(), []);
      assert.deepEqual(await store.outlines('project3', ['r1']), []);
    });

    it('knows what responses need', async () => {
      await addAll(storedResponse('r1'), storedResponse('r2'), storedResponse('r3', { needs: ['r1', 'r2'] }));
      await addAll(storedResponse('r4', { needs: ['r2'] }), storedResponse('r5', { needs: ['r4'] }));
      const needed = await store.needsOf(project, ['r1', 'r3', 'r4', 'r9']);
      assert.deepEqual([...new Set(needed)].sort(), ['r1', 'r2']);
      assert.deepEqual(await store.needsOf('project2', ['r3']), []);
    });

    it('keeps a response without its ancestors, as earlier releases did', async () => {
      const old = storedResponse('r2', { previous: 'r1', ancestors: null });
      await addAll(storedResponse('r1'), old);
      assert.deepEqual(await store.outlines(project, ['r2']), [outlineOf(old)]);
      assert.deepEqual(await store.find(project, 'r2'), old);
    });

    it('reads several contents, without those that are not there', async () => {
      await addAll(storedResponse('r1'), storedResponse('r2'), storedResponse('r3', { projectId: 'project2' }));
      assert.deepEqual(
        await store.contents(project, ['r1', 'r2', 'r3', 'r4']),
        new Map([
          ['r1', 'content of r1'],
          ['r2', 'content of r2'],
        ]),
      );
    });

    it('finds responses by their items, unless they were deleted', async () => {
      await addAll(
        storedResponse('r1', { items: ['a', 'b'] }),
        storedResponse('r2', { items: ['c'] }),
        storedResponse('r3', { items: ['a'], projectId: 'project2' }),
      );
      assert.deepEqual(ids(await store.ofItems(project, ['b', 'c', 'd'], [])), ['r1', 'r2']);
      assert.deepEqual(ids(await store.ofItems(project, ['a', 'b'], [])), ['r1']);
      assert.deepEqual(ids(await store.ofItems(project, ['c'], ['r1', 'r2', 'r3', 'r9'])), ['r1', 'r2']);
      await store.markDeleted(project, ['r1']);
      assert.deepEqual(ids(await store.ofItems(project, ['a', 'c'], ['r1'])), ['r2']);
    });

    it('finds one response of those with the same item', async () => {
      const many = Array.from({ length: 70 }, (_, index) => storedResponse(`m${index}`, { items: ['a'] }));
      await addAll(...many, storedResponse('r1', { items: ['b'] }));
      const found = ids(await store.ofItems(project, ['a', 'b', 'c'], []));
      assert.ok(found.includes('r1') && found.some((id) => id.startsWith('m')), found.join());
    });

    it('knows the providers of items', async () => {
      const made = (id: string, provider: string | null, ...items: ReadonlyArray<string>) =>
        storedResponse(id, { provider, items });
      await addAll(made('r1', 'openai', 'a', 'b'), made('r2', null, 'a', 'c'), made('r3', 'azure', 'd'));
      await addAll(...Array.from({ length: 70 }, (_, index) => made(`m${index}`, 'openai', 'e')));
      await store.markDeleted(project, ['r3']);
      assert.deepEqual(
        await store.providersOf(project, ['a', 'c', 'd', 'e', 'f']),
        new Map([
          ['a', 'openai'],
          ['e', 'openai'],
        ]),
      );
      assert.deepEqual(await store.providersOf('project2', ['a']), new Map());
      assert.deepEqual(await store.providersOf(project, []), new Map());
    });

    it('adds no response that needs one that is gone', async () => {
      await addAll(storedResponse('r1'), storedResponse('r2'), storedResponse('r9', { projectId: 'project2' }));
      await store.markDeleted(project, ['r2']);
      await addAll(storedResponse('r3', { needs: ['r1', 'r2'] }));
      for (const needs of [['r9'], ['r1', 'r9']])
        assert.equal(await store.add(storedResponse('r4', { needs, items: ['a'] }), subject), 'needs-missing');
      assert.equal(await store.find(project, 'r4'), null);
      assert.deepEqual(await store.ofItems(project, ['a'], []), []);
      assert.deepEqual(await store.amountOf(project), { count: 2, bytes: 30, oldestAt: 1_000 });
    });

    it('keeps a response that cannot be added again because it needs one that is gone', async () => {
      await addAll(storedResponse('r1'));
      const again = storedResponse('r1', { needs: ['r9'], content: 'other' });
      assert.equal(await store.add(again, subject), 'needs-missing');
      assert.deepEqual(await store.find(project, 'r1'), storedResponse('r1'));
    });

    it('removes deleted responses when no other one needs them any more', async () => {
      await addAll(
        storedResponse('r1'),
        storedResponse('r2', { needs: ['r1'], previous: 'r1', ancestors: ['r1'] }),
        storedResponse('r3', { needs: ['r2'], previous: 'r2', ancestors: ['r2', 'r1'] }),
        storedResponse('other', { projectId: 'project2' }),
      );
      assert.deepEqual(await store.removeUnneeded(project), []);
      assert.deepEqual(await store.projectsToClean(9), []);
      await store.markDeleted(project, ['r1', 'r2']);
      assert.deepEqual(await store.projectsToClean(9), store instanceof InMemoryResponseStore ? [] : [project]);
      await removeAll();
      assert.deepEqual([await isThere('r1'), await isThere('r2'), await isThere('r3')], [true, true, true]);
      assert.deepEqual(await store.projectsToClean(9), []);
      await store.markDeleted(project, ['r3']);
      await store.markDeleted('project2', ['other']);
      assert.deepEqual([...(await store.projectsToClean(9))].sort(), [project, 'project2']);
      assert.equal((await store.projectsToClean(1)).length, 1);
      await removeAll();
      for (const id of ['r1', 'r2', 'r3']) assert.equal(await isThere(id), false, id);
      assert.deepEqual(await store.projectsToClean(9), ['project2']);
      assert.notEqual(await store.find('project2', 'other'), null);
      assert.equal(await store.bytesOf(project), 0);
    });

    it('keeps a deleted response for each branch, and for each conversation that names its items', async () => {
      await addAll(
        storedResponse('r1'),
        storedResponse('r2', { needs: ['r1'], previous: 'r1' }),
        storedResponse('b2', { needs: ['r1'], previous: 'r1' }),
        storedResponse('n1', { needs: ['r1'] }),
      );
      await store.markDeleted(project, ['r1']);
      for (const id of ['r2', 'b2', 'n1']) {
        assert.ok(await isThere('r1'));
        await store.markDeleted(project, [id]);
        await removeAll();
        assert.equal(await isThere(id), false);
      }
      assert.equal(await isThere('r1'), false);
    });

    it('removes a long chain a few at a time', async function () {
      this.timeout(120_000);
      const chain = Array.from({ length: 100 }, (_, index) => `r${100 + index}`);
      for (const [index, id] of chain.entries()) {
        const before = chain.slice(Math.max(0, index - 64), index).reverse();
        await addAll(storedResponse(id, { previous: before[0] ?? null, needs: before.slice(0, 1), ancestors: before }));
      }
      await store.markDeleted(project, chain.slice(0, -1));
      await removeAll();
      assert.equal(await store.bytesOf(project), 1_000);
      await store.markDeleted(project, chain.slice(-1));
      let steps = 0;
      for (let looked = await store.removeUnneeded(project); looked.length > 0; steps += 1) {
        assert.ok(looked.length <= 64);
        looked = await store.removeUnneeded(project);
      }
      assert.ok(steps >= 2 && steps <= 12, `${steps} steps`);
      assert.deepEqual(await store.amountOf(project), { count: 0, bytes: 0, oldestAt: null });
    });

    it('finds a chain of deleted responses whose last one is gone', async () => {
      await addAll(storedResponse('r1'), storedResponse('r2', { needs: ['r1'], previous: 'r1' }));
      await store.markDeleted(project, ['r1', 'r2']);
      await store.removeUnneeded(project);
      for (const name of await store.projectsToClean(9)) await store.removeUnneeded(name);
      assert.deepEqual(await store.projectsToClean(9), []);
      assert.equal(await store.bytesOf(project), 0);
    });

    it('keeps the content of a deleted response, and does not count it', async () => {
      await addAll(storedResponse('r1'), storedResponse('r2', { at: 2_000, bytes: 5 }));
      await store.markDeleted(project, ['r1']);
      await store.markDeleted(project, ['r1']);
      assert.equal((await store.find(project, 'r1'))?.isDeleted, true);
      assert.deepEqual(await store.amountOf(project), { count: 1, bytes: 15, oldestAt: 2_000 });
      await removeAll();
      assert.deepEqual(await store.amountOf(project), { count: 1, bytes: 5, oldestAt: 2_000 });
      assert.equal(await store.find(project, 'r1'), null);
    });

    it('lists the oldest responses of a project', async () => {
      await addAll(
        storedResponse('r3', { at: 3_000 }),
        storedResponse('r1', { at: 1_000 }),
        storedResponse('r2', { at: 2_000, projectId: 'project2' }),
        storedResponse('r0', { at: 500 }),
      );
      await store.markDeleted(project, ['r0']);
      assert.deepEqual(
        (await store.oldest(project, 1)).map(({ id }) => id),
        ['r1'],
      );
      assert.deepEqual(
        (await store.oldest(project, 9)).map(({ id }) => id),
        ['r1', 'r3'],
      );
    });

    it('finds what was stored before a time, of all projects, the oldest first', async () => {
      await addAll(
        storedResponse('r3', { at: 3_000 }),
        storedResponse('r1', { at: 1_000 }),
        storedResponse('r2', { at: 2_000, projectId: 'project2' }),
        storedResponse('r0', { at: 500 }),
      );
      await store.markDeleted(project, ['r0']);
      const expected = [
        { projectId: project, id: 'r1' },
        { projectId: 'project2', id: 'r2' },
      ];
      assert.deepEqual(await store.storedBefore(3_000, 9), expected);
      assert.deepEqual(await store.storedBefore(3_000, 1), expected.slice(0, 1));
      assert.deepEqual(await store.storedBefore(1_000, 9), []);
    });

    it('adds the bytes of a project', async () => {
      assert.deepEqual([await store.bytesOf(project), await store.bytesOf('project2')], [0, 0]);
      assert.deepEqual(await store.amountOf(project), { count: 0, bytes: 0, oldestAt: null });
      await addAll(
        storedResponse('r1'),
        storedResponse('r2'),
        storedResponse('r1', { projectId: 'project2', bytes: 7 }),
      );
      assert.deepEqual([await store.bytesOf(project), await store.bytesOf('project2')], [20, 7]);
      assert.equal(await store.hasRoomFor(100), true);
    });

    it('erases what is stored under a subject alone, and stores nothing more under it', async () => {
      const background = { model: 'fast', target: 'openai/gpt-x' };
      await addAll(
        storedResponse('r1'),
        storedResponse('r2', { needs: ['r1'], background }),
        storedResponse('r1', { projectId: 'project2' }),
      );
      await store.markDeleted(project, ['r1']);
      await store.beginErasure(erasure());
      const later = await store.subjectOf(project);
      assert.notEqual(later, subject);
      assert.equal(await store.add(storedResponse('r3'), subject), 'erased');
      assert.equal(await isThere('r3'), false);
      assert.equal(
        await store.finish({ projectId: project, id: 'r2', bytes: 9, items: [], content: 'end' }, subject),
        'erased',
      );
      assert.equal(await store.add(storedResponse('new'), later), 'stored');
      await eraseAll();
      await removeAll();
      for (const id of ['r1', 'r2']) assert.equal(await isThere(id), false, id);
      assert.deepEqual(await store.amountOf(project), { count: 1, bytes: 10, oldestAt: 1_000 });
      assert.equal(await store.bytesOf('project2'), 10);
      assert.deepEqual(await store.projectsToClean(9), []);
      await eraseAll();
      assert.ok(await isThere('new'));
    });

    it('lists an erasure until it is ended', async () => {
      await store.beginErasure(erasure());
      await store.beginErasure({ ...erasure(), at: 9_000 });
      assert.deepEqual(await store.erasuresBefore(5_001, 9), [erasure()]);
      assert.deepEqual(await store.erasuresBefore(5_000, 9), []);
      await store.endErasure(erasure());
      assert.deepEqual(await store.erasuresBefore(5_001, 9), []);
    });

    it('has one subject for each project until it is erased', async () => {
      const [one, same] = await Promise.all([store.subjectOf(project), store.subjectOf(project)]);
      assert.deepEqual([one, same], [subject, subject]);
      assert.notEqual(subject2, one);
      await store.beginErasure({ ...erasure(), subject: 'another' });
      assert.equal(await store.subjectOf(project), one);
      await store.beginErasure(erasure());
      assert.notEqual(await store.subjectOf(project), one);
    });
  });
}
