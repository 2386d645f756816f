import assert from 'node:assert/strict';
import { ResponseRetention } from '#responses/response-retention.ts';
import { StoredResponses } from '#responses/stored-responses.ts';
import type { KeptTurn, NewTurn } from '#responses/turn.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { InMemoryResponseStore } from '#test/support/fakes/in-memory-response-store.ts';
import { InMemorySubjectKeys } from '#test/support/fakes/in-memory-subject-keys.ts';

const project = 'project1';
const dayMs = 24 * 60 * 60 * 1_000;
const noLimit = { maxBytes: Number.MAX_SAFE_INTEGER, reserve: () => true };

describe('StoredResponses', () => {
  let store: InMemoryResponseStore;
  let keys: InMemorySubjectKeys;
  let now: number;
  let responses: StoredResponses;

  beforeEach(() => {
    store = new InMemoryResponseStore();
    keys = new InMemorySubjectKeys();
    now = 1_000_000 * dayMs;
    responses = new StoredResponses({ store, keys, ttlDays: 30, quotaBytes: 10_000, now: () => now });
  });

  /** Stores a turn that says its id. */
  async function turn(id: string, previousId: string | null = null, more: Partial<NewTurn> = {}): Promise<void> {
    const previous = previousId === null ? null : ((await responses.turns.find(project, previousId))?.outline ?? null);
    const output = [{ id: `msg_${id}`, type: 'message', role: 'assistant', content: `answer ${id}` }];
    const input = [{ id: `in_${id}`, type: 'message', role: 'user', content: `question ${id}` }];
    const added = await responses.add({
      projectId: project,
      id,
      inputText: JSON.stringify(input),
      responseText: JSON.stringify({ id, status: 'completed', output }),
      provider: null,
      previous,
      referenced: [],
      names: [`msg_${id}`, `in_${id}`],
      ...more,
    });
    assert.ok(added);
    now += 1;
  }

  const idsOf = (turns: ReadonlyArray<KeptTurn> | string | null) =>
    Array.isArray(turns) ? turns.map(({ outline }: KeptTurn) => outline.id) : turns;
  const isStored = async (id: string) => (await store.find(project, id)) !== null;

  it('gives back what was stored, to its project alone', async () => {
    await turn('r1');
    const found = await responses.turns.find(project, 'r1');
    const content = [{ type: 'input_text', text: 'question r1' }];
    assert.deepEqual(found?.input, [{ id: 'in_r1', type: 'message', status: 'completed', role: 'user', content }]);
    assert.equal(found?.response.id, 'r1');
    assert.equal(await responses.turns.find('project2', 'r1'), null);
    assert.equal(await responses.turns.conversation('project2', 'r1', noLimit), null);
    assert.deepEqual(await responses.turns.turnsOfItems('project2', { items: ['msg_r1'], ids: [] }, noLimit), []);
  });

  it('stores nothing readable but ids', async () => {
    await turn('r1', null, {
      inputText: JSON.stringify([{ id: 'in_r1', type: 'message', role: 'user', content: 'a canary' }]),
    });
    assert.doesNotMatch(JSON.stringify(await store.find(project, 'r1')), /canary|question|answer/);
  });

  it('reads the turns of a conversation in order, and of the right branch', async () => {
    await turn('r1');
    await turn('r2', 'r1');
    await turn('r3', 'r2');
    await turn('b2', 'r1');
    await turn('b3', 'b2');
    assert.deepEqual(idsOf(await responses.turns.conversation(project, 'r3', noLimit)), ['r1', 'r2', 'r3']);
    assert.deepEqual(idsOf(await responses.turns.conversation(project, 'b3', noLimit)), ['r1', 'b2', 'b3']);
    assert.deepEqual(idsOf(await responses.turns.conversation(project, 'r1', noLimit)), ['r1']);
    assert.equal(await responses.turns.conversation(project, 'r4', noLimit), null);
  });

  it('reads a long conversation in pieces of 64, also beyond turns of release 0.4', async () => {
    const ids = Array.from({ length: 200 }, (_, index) => `r${100 + index}`);
    let before: string | null = null;
    for (const [index, id] of ids.entries()) {
      await turn(id, before);
      if (index < 5) store.change(project, id, { ancestors: null });
      await turn(`${id}b`, before);
      before = id;
    }
    const { outlines } = store;
    let reads = 0;
    store.outlines = async (...given) => {
      reads += 1;
      assert.ok(given[1].length <= 64);
      return outlines.apply(store, given);
    };
    responses = new StoredResponses({ store, keys, ttlDays: 30, quotaBytes: 10_000, now: () => now });
    assert.deepEqual(idsOf(await responses.turns.conversation(project, 'r299', noLimit)), ids);
    assert.ok(reads <= 200 / 64 + 7, `${reads} reads`);
  });

  it('does not read more than a limit', async () => {
    await turn('r1');
    await turn('r2', 'r1');
    const { bytes } = await responses.amountOf(project);
    const reserved: number[] = [];
    const limits = (maxBytes: number, hasRoom = true) => ({
      maxBytes,
      reserve: (amount: number) => {
        reserved.push(amount);
        return hasRoom;
      },
    });
    assert.equal(await responses.turns.conversation(project, 'r2', limits(bytes - 1)), 'too-long');
    assert.equal(
      await responses.turns.turnsOfItems(project, { items: ['msg_r1', 'msg_r2'], ids: [] }, limits(bytes - 1)),
      'too-long',
    );
    assert.deepEqual(reserved, []);
    assert.equal(await responses.turns.conversation(project, 'r2', limits(bytes, false)), 'no-room');
    assert.deepEqual(idsOf(await responses.turns.conversation(project, 'r2', limits(bytes))), ['r1', 'r2']);
    assert.deepEqual(reserved, [bytes, bytes]);
  });

  it('does not store a turn that is too large for one document', async () => {
    const input = [{ type: 'message', role: 'user', content: 'x'.repeat(9 * 1024 * 1024) }];
    const large = {
      projectId: project,
      id: 'r1',
      inputText: JSON.stringify(input),
      responseText: '{"id":"r1"}',
      provider: null,
      previous: null,
      referenced: [],
      names: [],
    };
    assert.equal(await responses.add(large), false);
    assert.equal(await isStored('r1'), false);
  });

  it('stores large turns of many calls one after the other, and not all of them', async () => {
    let running = 0;
    let most = 0;
    const add = store.add.bind(store);
    store.add = async (response) => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setTimeout(resolve, 5));
      running -= 1;
      return add(response);
    };
    const input = [{ type: 'message', role: 'user', content: 'x'.repeat(100_000) }];
    const newTurn = (index: number, projectId = project): NewTurn => ({
      ...{ projectId, id: `r${index}`, inputText: JSON.stringify(input), responseText: '{}' },
      ...{ provider: null, previous: null, referenced: [], names: [] },
    });
    const mine = Array.from({ length: 20 }, (_, index) => responses.add(newTurn(index)));
    const other = responses.add(newTurn(0, 'project2'));
    const stored = (await Promise.all(mine)).filter((isStored) => isStored).length;
    assert.ok(stored >= 4 && stored < 20, `${stored} of 20`);
    assert.deepEqual([most, await other], [2, true], 'the other project waits only for its turn');
  });

  it('stores the ends of many large turns one after the other, and not all of them', async () => {
    const background = { model: 'fast', target: 'openai/gpt-x' };
    for (let index = 0; index < 20; index += 1) await turn(`r${index}`, null, { background });
    let running = 0;
    let most = 0;
    const finish = store.finish.bind(store);
    store.finish = async (finished) => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setTimeout(resolve, 5));
      running -= 1;
      return finish(finished);
    };
    const responseText = JSON.stringify({ output: 'x'.repeat(100_000) });
    const ends = Array.from({ length: 20 }, (_, index) =>
      responses.finish({ projectId: project, id: `r${index}`, inputText: '[]', responseText, names: [] }),
    );
    const outcomes = await Promise.allSettled(ends);
    const stored = outcomes.filter(({ status }) => status === 'fulfilled').length;
    assert.ok(stored >= 4 && stored < 20, `${stored} of 20`);
    assert.equal(most, 2);
    for (const outcome of outcomes)
      assert.ok(outcome.status === 'fulfilled' || outcome.reason instanceof UnavailableError);
  });

  it('costs as much storage for the last of many turns as for the first', async () => {
    let before: string | null = null;
    const sizes: number[] = [];
    for (let number = 100; number < 300; number += 1) {
      await turn(`r${number}`, before);
      before = `r${number}`;
      sizes.push((await store.find(project, before))?.bytes ?? 0);
    }
    assert.deepEqual(new Set(sizes).size, 1, `${Math.min(...sizes)} to ${Math.max(...sizes)} bytes`);
  });

  describe('a deleted response', () => {
    it('is not there any more, and its items are removed with the last response that needs them', async () => {
      await turn('r1');
      await turn('r2', 'r1');
      await turn('r3', 'r2');
      assert.equal(await responses.delete(project, 'r1'), true);
      assert.equal(await responses.delete(project, 'r1'), false);
      assert.equal(await responses.turns.find(project, 'r1'), null);
      assert.equal(await responses.turns.conversation(project, 'r1', noLimit), null);
      assert.deepEqual(await responses.turns.turnsOfItems(project, { items: ['msg_r1'], ids: [] }, noLimit), []);
      assert.deepEqual(idsOf(await responses.turns.conversation(project, 'r3', noLimit)), ['r1', 'r2', 'r3']);
      await responses.delete(project, 'r2');
      assert.ok(await isStored('r1'));
      await responses.delete(project, 'r3');
      for (const id of ['r1', 'r2', 'r3']) assert.equal(await isStored(id), false, id);
    });

    it('stays for another branch', async () => {
      await turn('r1');
      await turn('r2', 'r1');
      await turn('b2', 'r1');
      await responses.delete(project, 'r1');
      await responses.delete(project, 'r2');
      assert.deepEqual([await isStored('r1'), await isStored('r2')], [true, false]);
      await responses.delete(project, 'b2');
      assert.equal(await isStored('r1'), false);
    });

    it('is not continued by a turn that has begun before, nor named by it', async () => {
      const late = { projectId: project, id: 'r2', inputText: '[]', responseText: '{}', provider: null, names: [] };
      for (const continues of [true, false]) {
        await turn('r1');
        const previous = continues ? ((await responses.turns.find(project, 'r1'))?.outline ?? null) : null;
        await responses.delete(project, 'r1');
        assert.equal(await responses.add({ ...late, previous, referenced: continues ? [] : ['r1'] }), false);
        assert.equal(await responses.turns.conversation(project, 'r2', noLimit), null);
      }
    });

    it('is read from no memory, even if the store has a turn that continues it', async () => {
      await turn('r1');
      await turn('r2', 'r1');
      const second = (await store.find(project, 'r2')) ?? assert.fail();
      await responses.turns.conversation(project, 'r2', noLimit);
      await responses.delete(project, 'r2');
      await responses.delete(project, 'r1');
      await store.add({ ...second, needs: [] });
      assert.equal(await responses.turns.conversation(project, 'r2', noLimit), null);
    });

    it('stays if a turn that continues it is stored while it is deleted', async () => {
      await turn('r1');
      const { isNeeded } = store;
      store.isNeeded = async (...given) => {
        const wasNeeded = await isNeeded.apply(store, given);
        store.isNeeded = isNeeded;
        await turn('r2', 'r1');
        return wasNeeded;
      };
      assert.equal(await responses.delete(project, 'r1'), true);
      assert.equal(await responses.turns.find(project, 'r1'), null);
      assert.deepEqual(idsOf(await responses.turns.conversation(project, 'r2', noLimit)), ['r1', 'r2']);
      assert.equal(await responses.delete(project, 'r2'), true);
      assert.equal(await isStored('r1'), false);
    });

    it('stays for a conversation that names its items', async () => {
      await turn('r1');
      await turn('r2', null, { referenced: ['r1'] });
      await responses.delete(project, 'r1');
      assert.ok(await isStored('r1'));
      await responses.delete(project, 'r2');
      assert.equal(await isStored('r1'), false);
    });
  });

  it('keeps a response for its days', async () => {
    await turn('r1');
    now += 29 * dayMs;
    await turn('r2', 'r1');
    now += 2 * dayMs;
    assert.equal(await responses.turns.find(project, 'r1'), null);
    assert.deepEqual(idsOf(await responses.turns.conversation(project, 'r2', noLimit)), ['r1', 'r2']);
  });

  it('reads the turns that others need, deleted and too old ones too, within the limits', async () => {
    await turn('r1');
    now += 31 * dayMs;
    await turn('r2');
    await turn('r3', null, { referenced: ['r1', 'r2'] });
    await responses.delete(project, 'r2');
    assert.deepEqual(idsOf(await responses.turns.neededTurns(project, ['r1', 'r2'], noLimit)), ['r1', 'r2']);
    assert.equal(await responses.turns.neededTurns(project, ['r1', 'r2'], { ...noLimit, maxBytes: 10 }), 'too-long');
    assert.deepEqual(await responses.turns.neededTurns('project2', ['r1'], noLimit), []);
  });

  it('erases a project so that no copy can be read, and stores again afterwards', async () => {
    await turn('r1');
    const copy = (await store.find(project, 'r1')) ?? assert.fail();
    await responses.eraseProject(project);
    assert.deepEqual(await responses.amountOf(project), { count: 0, bytes: 0, oldestAt: null });
    await store.add(copy);
    assert.equal(await responses.turns.find(project, 'r1'), null, 'the copy cannot be opened');
    await turn('r2');
    assert.equal((await responses.turns.find(project, 'r2'))?.response.id, 'r2');
    await responses.eraseProject(project);
    await responses.eraseProject(project);
    assert.equal(await responses.turns.find(project, 'r2'), null);
  });

  it('stores again after an erasure that was interrupted', async () => {
    await turn('r1');
    await keys.destroy(await store.subjectOf(project));
    responses = new StoredResponses({ store, keys, ttlDays: 30, quotaBytes: 10_000, now: () => now });
    await turn('r2');
    assert.equal((await responses.turns.find(project, 'r2'))?.response.id, 'r2');
    assert.equal(await responses.turns.find(project, 'r1'), null);
  });

  describe('ResponseRetention', () => {
    const removed: string[] = [];
    const keepLimits = () =>
      new ResponseRetention({ responses, onRemoved: (reason) => void removed.push(reason) }).keepLimits(
        new AbortController().signal,
      );
    beforeEach(() => {
      removed.length = 0;
    });

    it('removes what is too old, with the items that nothing needs', async () => {
      await turn('r1');
      await turn('s1');
      now += 20 * dayMs;
      await turn('r2', 'r1');
      now += 11 * dayMs;
      await keepLimits();
      assert.deepEqual([await isStored('s1'), await isStored('r1'), await isStored('r2')], [false, true, true]);
      assert.deepEqual(removed, ['age', 'age']);
      now += 20 * dayMs;
      await keepLimits();
      assert.deepEqual(await responses.amountOf(project), { count: 0, bytes: 0, oldestAt: null });
    });

    it('removes the oldest of a project beyond its quota, and nothing of others', async () => {
      await turn('other', null, { projectId: 'project2' });
      const { bytes } = (await store.find('project2', 'other')) ?? assert.fail();
      const fitting = Math.floor(10_000 / bytes);
      for (let number = 0; number < fitting + 3; number += 1) await turn(`r${1_000 + number}`);
      await keepLimits();
      const amount = await responses.amountOf(project);
      assert.ok(amount.bytes <= 10_000 && amount.count >= fitting - 1, JSON.stringify(amount));
      assert.equal(await isStored('r1000'), false);
      assert.ok(await isStored(`r${1_000 + fitting + 2}`));
      assert.ok((await store.find('project2', 'other')) !== null);
      assert.deepEqual(new Set(removed), new Set(['quota']));
    });

    it('ends a conversation beyond the quota only with its last response', async () => {
      let before: string | null = null;
      for (let number = 0; number < 40; number += 1) {
        await turn(`r${1_000 + number}`, before);
        before = `r${1_000 + number}`;
      }
      await turn('new');
      await keepLimits();
      assert.ok((await responses.amountOf(project)).bytes <= 10_000);
      assert.equal(await isStored('r1039'), false);
      assert.ok(await isStored('new'));
    });
  });
});
