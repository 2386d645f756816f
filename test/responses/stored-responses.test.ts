import assert from 'node:assert/strict';
import { Admission } from '#exchange/admission.ts';
import { ResponseRetention } from '#responses/response-retention.ts';
import { StoredResponses } from '#responses/stored-responses.ts';
import type { KeptTurn, NewTurn } from '#responses/turn.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { providerCopy } from '#test/contract/provider-copies.ts';
import { InMemoryResponseStore } from '#test/support/fakes/in-memory-response-store.ts';
import { InMemorySubjectKeys } from '#test/support/fakes/in-memory-subject-keys.ts';

const project = 'project1';
const quotaBytes = 1_000_000;
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
    responses = new StoredResponses({
      admission: new Admission(),
      store,
      keys,
      ttlDays: 30,
      quotaBytes,
      now: () => now,
    });
  });

  afterEach(() => responses.close());

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
    assert.equal(added, 'stored');
    now += 1;
  }

  const idsOf = (turns: ReadonlyArray<KeptTurn> | string | null) =>
    Array.isArray(turns) ? turns.map(({ outline }: KeptTurn) => outline.id) : turns;
  const isStored = async (id: string) => (await store.find(project, id)) !== null;

  it('gives back what was stored, to its project alone', async () => {
    await turn('r1');
    const found = await responses.turns.find(project, 'r1');
    const input = [{ id: 'in_r1', type: 'message', role: 'user', content: 'question r1' }];
    assert.deepEqual(JSON.parse(String(found?.text.input)), input);
    assert.equal(JSON.parse(String(found?.text.response)).id, 'r1');
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
    responses = new StoredResponses({
      admission: new Admission(),
      store,
      keys,
      ttlDays: 30,
      quotaBytes,
      now: () => now,
    });
    assert.deepEqual(idsOf(await responses.turns.conversation(project, 'r299', noLimit)), ids);
    assert.ok(reads <= 200 / 64 + 7, `${reads} reads`);
  });

  it('reads no more outlines than its limit has room for', async () => {
    for (let index = 0; index < 200; index += 1) await turn(`r${index}`, index === 0 ? null : `r${index - 1}`);
    responses = new StoredResponses({
      admission: new Admission(),
      store,
      keys,
      ttlDays: 30,
      quotaBytes,
      now: () => now,
    });
    const { outlines } = store;
    let reads = 0;
    store.outlines = async (...given) => {
      reads += 1;
      return outlines.apply(store, given);
    };
    assert.equal(await responses.turns.conversation(project, 'r199', { ...noLimit, maxBytes: 1_000 }), 'too-long');
    assert.ok(reads <= 2, `${reads} reads`);
  });

  it('says what a response needs, and the ancestors of one that is read again', async () => {
    for (let index = 0; index < 12; index += 1) await turn(`r${index}`, index === 0 ? null : `r${index - 1}`);
    await turn('r12', 'r11', { referenced: ['r3'] });
    const ids = Array.from({ length: 13 }, (_, index) => `r${index}`);
    assert.equal((await responses.turns.needsOf(project, ids)).size, 12);
    assert.deepEqual([...(await responses.turns.needsOf(project, ['r12']))], ['r11', 'r3']);
    assert.deepEqual(idsOf(await responses.turns.conversation(project, 'r12', noLimit)), ids);
    const again = await responses.turns.conversation(project, 'r11', noLimit);
    assert.ok(Array.isArray(again));
    assert.equal(again.at(-1).outline.ancestors.length, 11);
  });

  it('does not read more than a limit', async () => {
    await turn('r1');
    await turn('r2', 'r1');
    const turns = await responses.turns.conversation(project, 'r2', noLimit);
    assert.ok(Array.isArray(turns));
    const bytes = turns.reduce((sum: number, { text }: KeptTurn) => sum + text.bytes.length, 0);
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
    const { bytes: sealed } = await responses.amountOf(project);
    assert.deepEqual(reserved, [sealed, sealed]);
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
    assert.equal(await responses.add(large), 'too-large');
    assert.equal(await responses.add({ ...large, id: 'r'.repeat(257), inputText: '[]' }), 'too-large');
    assert.equal(await isStored('r1'), false);
  });

  it('stores large turns of many calls one after the other, and not all of them', async () => {
    let running = 0;
    let most = 0;
    const add = store.add.bind(store);
    store.add = async (...given) => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setTimeout(resolve, 5));
      running -= 1;
      return add(...given);
    };
    const input = [{ type: 'message', role: 'user', content: 'x'.repeat(100_000) }];
    const newTurn = (index: number, projectId = project): NewTurn => ({
      ...{ projectId, id: `r${index}`, inputText: JSON.stringify(input), responseText: '{}' },
      ...{ provider: null, previous: null, referenced: [], names: [] },
    });
    const mine = Array.from({ length: 20 }, (_, index) => responses.add(newTurn(index)));
    const other = responses.add(newTurn(0, 'project2'));
    const stored = (await Promise.all(mine)).filter((outcome) => outcome === 'stored').length;
    assert.ok(stored >= 4 && stored < 20, `${stored} of 20`);
    assert.deepEqual([most, await other], [2, 'stored'], 'the other project waits only for its turn');
  });

  it('stores the ends of many large turns one after the other, and not all of them', async () => {
    const background = { model: 'fast', target: 'openai/gpt-x' };
    for (let index = 0; index < 20; index += 1) await turn(`r${index}`, null, { background });
    let running = 0;
    let most = 0;
    const finish = store.finish.bind(store);
    store.finish = async (...given) => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setTimeout(resolve, 5));
      running -= 1;
      return finish(...given);
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
      await responses.removal.idle();
      for (const id of ['r1', 'r2', 'r3']) assert.equal(await isStored(id), false, id);
    });

    it('stays for another branch', async () => {
      await turn('r1');
      await turn('r2', 'r1');
      await turn('b2', 'r1');
      await responses.delete(project, 'r1');
      await responses.delete(project, 'r2');
      await responses.removal.idle();
      assert.deepEqual([await isStored('r1'), await isStored('r2')], [true, false]);
      await responses.delete(project, 'b2');
      await responses.removal.idle();
      assert.equal(await isStored('r1'), false);
    });

    it('is not continued by a turn that has begun before, nor named by it', async () => {
      const late = { projectId: project, id: 'r2', inputText: '[]', responseText: '{}', provider: null, names: [] };
      for (const continues of [true, false]) {
        await turn('r1');
        const previous = continues ? ((await responses.turns.find(project, 'r1'))?.outline ?? null) : null;
        await responses.delete(project, 'r1');
        await responses.removal.idle();
        const outcome = await responses.add({ ...late, previous, referenced: continues ? [] : ['r1'] });
        assert.equal(outcome, 'needs-missing');
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
      await responses.removal.idle();
      await store.add({ ...second, needs: [] }, await store.subjectOf(project));
      assert.equal(await responses.turns.conversation(project, 'r2', noLimit), null);
    });

    it('stays if a turn that continues it is stored while it is deleted', async () => {
      await turn('r1');
      const previous = (await responses.turns.find(project, 'r1'))?.outline ?? null;
      const { markDeleted } = store;
      store.markDeleted = async (...given) => {
        await markDeleted.apply(store, given);
        await turn('r2', null, { previous });
      };
      assert.equal(await responses.delete(project, 'r1'), true);
      store.markDeleted = markDeleted;
      await responses.removal.idle();
      assert.equal(await responses.turns.find(project, 'r1'), null);
      assert.deepEqual(idsOf(await responses.turns.conversation(project, 'r2', noLimit)), ['r1', 'r2']);
      assert.equal(await responses.delete(project, 'r2'), true);
      await responses.removal.idle();
      assert.equal(await isStored('r1'), false);
    });

    it('stays for a conversation that names its items', async () => {
      await turn('r1');
      await turn('r2', null, { referenced: ['r1'] });
      await responses.delete(project, 'r1');
      assert.ok(await isStored('r1'));
      await responses.delete(project, 'r2');
      await responses.removal.idle();
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
    await store.add(copy, await store.subjectOf(project));
    assert.equal(await responses.turns.find(project, 'r1'), null, 'the copy cannot be opened');
    await turn('r2');
    assert.notEqual(await responses.turns.find(project, 'r2'), null);
    await responses.eraseProject(project);
    await responses.eraseProject(project);
    assert.equal(await responses.turns.find(project, 'r2'), null);
  });

  it('stores again after an erasure that was interrupted', async () => {
    await turn('r1');
    await keys.destroy(await store.subjectOf(project));
    responses = new StoredResponses({
      admission: new Admission(),
      store,
      keys,
      ttlDays: 30,
      quotaBytes,
      now: () => now,
    });
    await turn('r2');
    assert.notEqual(await responses.turns.find(project, 'r2'), null);
    assert.equal(await responses.turns.find(project, 'r1'), null);
  });

  it('uses no key in memory for longer than its time: another node may have destroyed it', async () => {
    await turn('r1');
    const begun = await responses.beginCall(project);
    await keys.destroy(begun.subject);
    now += 11_000;
    const rest = { inputText: '[]', responseText: '{}', provider: null, previous: null, referenced: [], names: [] };
    assert.equal(await responses.add({ ...rest, projectId: project, id: 'r2' }, begun), 'erased');
    await turn('r3');
    assert.notEqual(await responses.turns.find(project, 'r3'), null);
  });

  describe('an erasure', () => {
    const later = { projectId: project, id: 'r2', inputText: '[]', responseText: '{}', provider: null, names: [] };

    it('is final: what a call stores that has begun before it is refused', async () => {
      const background = { model: 'fast', target: 'openai/gpt-x' };
      await turn('b1', null, { background });
      const begun = await responses.beginCall(project);
      await responses.eraseProject(project);
      const newTurn = { ...later, previous: null, referenced: [] };
      assert.equal(await responses.add(newTurn, begun), 'erased');
      assert.equal(await responses.finish({ ...later, id: 'b1' }, begun), 'erased');
      assert.deepEqual([await isStored('r2'), await isStored('b1')], [false, false]);
      assert.equal(await responses.add(newTurn, await responses.beginCall(project)), 'stored');
    });

    it('is known to a call that begins on another node', async () => {
      const other = new StoredResponses({
        admission: new Admission(),
        store,
        keys,
        ttlDays: 30,
        quotaBytes,
        now: () => now,
      });
      await turn('r1');
      assert.equal(JSON.parse(String((await other.turns.find(project, 'r1'))?.text.response)).id, 'r1');
      await responses.eraseProject(project);
      assert.equal(await other.add({ ...later, previous: null, referenced: [] }), 'stored');
    });

    it('is ended by the retention if the process ends before, and keeps what was stored after it', async () => {
      for (const id of ['r1', 'r2', 'r3']) await turn(id);
      const { eraseSome } = store;
      let steps = 0;
      store.eraseSome = async (...given) => {
        steps += 1;
        if (steps > 1) throw new UnavailableError('The process has ended.');
        return eraseSome.apply(store, given);
      };
      await assert.rejects(responses.eraseProject(project), UnavailableError);
      assert.equal(await responses.turns.find(project, 'r3'), null, 'its key is destroyed');
      store.eraseSome = eraseSome;
      await turn('new');
      now += 2 * 60_000;
      await new ResponseRetention({ responses }).keepLimits(new AbortController().signal);
      assert.deepEqual(await Promise.all(['r1', 'r2', 'r3', 'new'].map(isStored)), [false, false, false, true]);
      assert.deepEqual(await store.erasuresBefore(Number.MAX_SAFE_INTEGER, 9), []);
    });

    it('makes the copies of the project at providers due', async () => {
      await store.copies.add(providerCopy('r1', { checkAt: now + dayMs }));
      await store.copies.add(providerCopy('r1', { projectId: 'project2', checkAt: now + dayMs }));
      await responses.eraseProject(project);
      assert.deepEqual(
        (await store.copies.due(now, 9)).map(({ projectId }) => projectId),
        [project],
      );
    });
  });

  describe('the quota of a project', () => {
    const size = async (id: string) => (await store.find(project, id))?.bytes ?? assert.fail();
    const removed: string[] = [];
    beforeEach(() => {
      removed.length = 0;
    });
    const withQuota = (bytes: number) => {
      responses = new StoredResponses({
        admission: new Admission(),
        store,
        keys,
        ttlDays: 30,
        quotaBytes: bytes,
        now: () => now,
      });
      responses.watchRemovals((reason) => removed.push(reason));
    };

    it('removes the oldest when something is written, and nothing of others', async () => {
      await turn('other', null, { projectId: 'project2' });
      await turn('r100');
      withQuota((await size('r100')) * 20);
      for (let number = 101; number < 150; number += 1) await turn(`r${number}`);
      assert.equal((await responses.amountOf(project)).count, 20);
      assert.deepEqual([await isStored('r129'), await isStored('r130')], [false, true]);
      assert.ok((await store.find('project2', 'other')) !== null);
      assert.deepEqual(
        removed,
        Array.from({ length: 30 }, () => 'quota'),
      );
    });

    it('ends a conversation only with its last response', async () => {
      await turn('r100');
      withQuota((await size('r100')) * 20.5);
      for (let number = 101; number < 122; number += 1) await turn(`r${number}`, `r${number - 1}`);
      assert.deepEqual([await isStored('r100'), await isStored('r121')], [true, true]);
      assert.equal(await responses.turns.find(project, 'r120'), null, 'only the newest is left to continue');
      await turn('new');
      assert.equal(await responses.turns.find(project, 'r121'), null);
      assert.equal(await isStored('r121'), false);
      assert.deepEqual(await responses.amountOf(project), { count: 1, bytes: await size('new'), oldestAt: now - 1 });
    });

    it('refuses far more than it', async () => {
      await turn('r100');
      withQuota((await size('r100')) * 20.5);
      for (let number = 101; number < 122; number += 1) await turn(`r${number}`, `r${number - 1}`);
      const previous = (await responses.turns.find(project, 'r121'))?.outline ?? assert.fail();
      const next = { ...{ projectId: project, id: 'r122', inputText: '[]', provider: null, previous }, names: [] };
      const responseText = JSON.stringify({ output: 'x'.repeat(1_000) });
      assert.equal(await responses.add({ ...next, responseText, referenced: [] }), 'quota');
      assert.equal(JSON.parse(String((await responses.turns.find(project, 'r121'))?.text.response)).id, 'r121');
    });

    it('counts what is being written', async () => {
      await turn('r100');
      withQuota((await size('r100')) * 5);
      const { add } = store;
      store.add = async (...given) => {
        await new Promise((resolve) => setTimeout(resolve, 5));
        return add.apply(store, given);
      };
      const responseText = JSON.stringify({ output: 'x'.repeat(100) });
      const outcomes = await Promise.all(
        Array.from({ length: 50 }, (_, index) =>
          responses.add({
            ...{ projectId: project, id: `p${index}`, inputText: '[]', responseText, provider: null },
            ...{ previous: null, referenced: [], names: [] },
          }),
        ),
      );
      assert.ok(outcomes.includes('stored') && outcomes.includes('quota'), outcomes.join());
      assert.ok((await responses.amountOf(project)).bytes <= responses.quotaBytes);
    });

    it('leaves what a running write continues, however old it is', async () => {
      await turn('r100');
      withQuota((await size('r100')) * 20.5);
      for (let number = 101; number < 120; number += 1) await turn(`r${number}`);
      const previous = (await responses.turns.find(project, 'r100'))?.outline ?? assert.fail();
      const { add } = store;
      let writeNow = () => {};
      const others = new Promise<void>((resolve) => {
        writeNow = resolve;
      });
      store.add = async (...given) => {
        if (given[0].id === 'next') await others;
        return add.apply(store, given);
      };
      const next = { projectId: project, id: 'next', inputText: '[]', responseText: '{}', provider: null, names: [] };
      const running = responses.add({ ...next, previous, referenced: [] });
      for (const id of ['r120', 'r121']) await turn(id);
      writeNow();
      assert.equal(await running, 'stored');
    });

    it('stores nothing where the disk has no room', async () => {
      store.hasRoomFor = async () => false;
      const late = { projectId: project, id: 'r1', inputText: '[]', responseText: '{}', provider: null, names: [] };
      assert.equal(await responses.add({ ...late, previous: null, referenced: [] }), 'disk-full');
      assert.equal(await isStored('r1'), false);
    });
  });

  describe('ResponseRetention', () => {
    const removed: string[] = [];
    const keepLimits = () => new ResponseRetention({ responses }).keepLimits(new AbortController().signal);
    beforeEach(() => {
      removed.length = 0;
      responses.watchRemovals((reason) => removed.push(reason));
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

    it('removes the old ones of projects in turn', async () => {
      for (let number = 0; number < 100; number += 1) await turn(`r${number}`);
      await turn('other', null, { projectId: 'project2' });
      now += 31 * dayMs;
      const order: string[] = [];
      const { markDeleted } = store;
      store.markDeleted = async (projectId, ids) => {
        assert.ok(ids.length <= 16);
        order.push(projectId);
        await markDeleted.call(store, projectId, ids);
      };
      await keepLimits();
      assert.equal(order.indexOf('project2'), 1);
      assert.deepEqual([await store.bytesOf(project), await store.bytesOf('project2')], [0, 0]);
    });

    it('asks three indexes where there is nothing to do', async () => {
      await turn('r1');
      const asked: string[] = [];
      for (const name of ['storedBefore', 'projectsToClean', 'erasuresBefore', 'oldest', 'bytesOf'] as const) {
        const method = store[name] as (...given: unknown[]) => Promise<never>;
        Object.assign(store, {
          [name]: (...given: unknown[]) => {
            asked.push(name);
            return method.apply(store, given);
          },
        });
      }
      await keepLimits();
      assert.deepEqual(asked, ['storedBefore', 'projectsToClean', 'erasuresBefore']);
    });

    it('removes what a deletion has left when the process ended', async () => {
      await turn('r1');
      await turn('r2', 'r1');
      await store.markDeleted(project, ['r1', 'r2']);
      await keepLimits();
      assert.equal(await store.bytesOf(project), 0);
    });
  });
});
