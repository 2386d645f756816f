import assert from 'node:assert/strict';
import type { ProviderCopies, ProviderCopy } from '#responses/provider-copies.ts';
import type { OpenResponseStore } from './response-store.ts';

const project = 'project1';

/** A provider's copy for tests. */
export function providerCopy(id: string, other: Partial<ProviderCopy> = {}): ProviderCopy {
  return {
    projectId: project,
    id,
    model: 'fast',
    target: 'openai/gpt-x',
    keyId: 'key1',
    organizationId: 'organization1',
    partnerId: null,
    isCounted: false,
    checkAt: 1_000,
    failures: 0,
    ...other,
  };
}

/** What every list of providers' copies does. */
export function providerCopiesContract(name: string, open: OpenResponseStore): void {
  describe(`the providers’ copies on ${name}`, () => {
    let copies: ProviderCopies;
    let close: () => Promise<void>;
    beforeEach(async () => {
      const { store, dispose } = await open();
      copies = store.copies;
      close = async () => {
        await store.close();
        await dispose();
      };
    });
    afterEach(() => close());

    const all = () => copies.due(Number.MAX_SAFE_INTEGER, 100);
    const addAll = async (...added: ReadonlyArray<ProviderCopy>) => {
      for (const copy of added) await copies.add(copy);
    };

    it('lists those to look at, in the order of their times', async () => {
      const [first, second] = [providerCopy('r2', { checkAt: 500, partnerId: 'partner1' }), providerCopy('r1')];
      await addAll(second, providerCopy('r3', { checkAt: 3_000 }), first);
      assert.deepEqual(await copies.due(1_000, 100), [first, second]);
      assert.deepEqual(await copies.due(1_000, 1), [first]);
      assert.deepEqual(await copies.due(499, 100), []);
    });

    it('keeps the first one of a response', async () => {
      await addAll(providerCopy('r1'), providerCopy('r1', { target: 'other/gpt-x', checkAt: 1 }));
      assert.deepEqual(await all(), [providerCopy('r1')]);
    });

    it('marks the usage of one as recorded, once', async () => {
      const others = [
        providerCopy('r2', { checkAt: 2_000 }),
        providerCopy('r1', { projectId: 'project2', checkAt: 3_000 }),
      ];
      await addAll(providerCopy('r1'), ...others, providerCopy('r3', { isCounted: true, checkAt: 4_000 }));
      assert.equal(await copies.count(project, 'r1'), true);
      for (const id of ['r1', 'r3', 'r4']) assert.equal(await copies.count(project, id), false, id);
      assert.deepEqual((await all()).slice(0, 3), [providerCopy('r1', { isCounted: true }), ...others]);
    });

    it('changes when it looks at one, and keeps what was recorded', async () => {
      await addAll(providerCopy('r1'), providerCopy('r2'));
      await copies.count(project, 'r1');
      await copies.postpone(project, 'r1', { checkAt: 9_000, failures: 2 });
      await copies.postpone(project, 'r9', { checkAt: 9_000, failures: 2 });
      const changed = providerCopy('r1', { isCounted: true, checkAt: 9_000, failures: 2 });
      assert.deepEqual(await all(), [providerCopy('r2'), changed]);
    });

    it('makes those of a project due, and no later than they were', async () => {
      const others = [
        providerCopy('r2', { checkAt: 500 }),
        providerCopy('r1', { projectId: 'project2', checkAt: 9_000 }),
      ];
      await addAll(providerCopy('r1', { checkAt: 8_000 }), ...others);
      await copies.makeDue(project, 700);
      assert.deepEqual(await all(), [others[0], providerCopy('r1', { checkAt: 700 }), others[1]]);
    });

    it('removes one', async () => {
      const other = providerCopy('r1', { projectId: 'project2' });
      await addAll(providerCopy('r1'), other);
      for (let time = 0; time < 2; time += 1) await copies.remove(project, 'r1');
      assert.deepEqual(await all(), [other]);
      assert.equal(await copies.count(project, 'r1'), false);
    });
  });
}
