import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { type SubjectKeys, subjectKeyBytes } from '#personal-data/subject-keys.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';

/**
 * Declares the tests of every store of subject keys.
 * @param open opens a new, empty store, and others on the same data
 */
export function subjectKeysContract(
  name: string,
  open: () => Promise<{ readonly keys: SubjectKeys; another(): SubjectKeys; dispose(): Promise<void> }>,
): void {
  describe(`${name}: subject keys contract`, () => {
    let opened: Awaited<ReturnType<typeof open>>;
    let keys: SubjectKeys;
    beforeEach(async () => {
      opened = await open();
      keys = opened.keys;
    });
    afterEach(async () => {
      await keys.close();
      await opened.dispose();
    });

    it('creates one key for each subject, once', async () => {
      const first = await keys.obtain('one');
      assert.equal(first?.length, subjectKeyBytes);
      assert.deepEqual(await keys.obtain('one'), first);
      assert.notDeepEqual(await keys.obtain('two'), first);
    });

    it('gives the same key to all concurrent callers', async () => {
      const other = opened.another();
      try {
        const asked = Array.from({ length: 16 }, (_, index) => (index % 2 === 0 ? keys : other));
        const given = await Promise.all(asked.map((each) => each.obtain('one')));
        for (const key of given) assert.deepEqual(key, given[0]);
      } finally {
        await other.close();
      }
    });

    it('finds existing keys, and creates none', async () => {
      const one = await keys.obtain('one');
      const two = await keys.obtain('two');
      await keys.obtain('three');
      assert.deepEqual(
        await keys.find(['one', 'never', 'two']),
        new Map([
          ['one', one],
          ['two', two],
        ]),
      );
      assert.deepEqual(await keys.find([]), new Map());
      assert.deepEqual(await keys.find(['never']), new Map());
    });

    it('finds keys of a thousand subjects together', async () => {
      const subjects = Array.from({ length: 1_000 }, (_, index) => `subject ${index}`);
      await keys.obtain('subject 0');
      await keys.obtain('subject 999');
      assert.deepEqual([...(await keys.find(subjects)).keys()].sort(), ['subject 0', 'subject 999']);
    });

    it('destroys a key permanently, and no other key', async () => {
      await keys.obtain('one');
      const two = await keys.obtain('two');
      await keys.destroy('one');
      await keys.destroy('one');
      assert.equal(await keys.obtain('one'), null);
      assert.deepEqual(await keys.find(['one', 'two']), new Map([['two', two]]));
    });

    it('creates no key for a subject whose key was destroyed before it existed', async () => {
      await keys.destroy('one');
      assert.equal(await keys.obtain('one'), null);
    });

    it('adopts a key for a subject without one, and keeps an existing key', async () => {
      const key = randomBytes(subjectKeyBytes);
      assert.equal(await keys.adopt('one', key), true);
      assert.equal(await keys.adopt('one', key), true);
      assert.deepEqual(await keys.obtain('one'), new Uint8Array(key));
      assert.equal(await keys.adopt('one', randomBytes(subjectKeyBytes)), false);
      assert.deepEqual(await keys.obtain('one'), new Uint8Array(key));
      await keys.destroy('one');
      assert.equal(await keys.adopt('one', key), true);
      assert.equal(await keys.obtain('one'), null);
    });

    it('lists all keys in pages, with destroyed ones', async () => {
      const made = new Map<string, Uint8Array | null>();
      for (const subject of ['b', 'd', 'a', 'c', 'e']) made.set(subject, await keys.obtain(subject));
      await keys.destroy('c');
      const expected = [...made.set('c', null)].sort();
      const pages: Array<ReadonlyArray<readonly [string, Uint8Array | null]>> = [];
      do pages.push(await keys.page(pages.at(-1)?.at(-1)?.[0] ?? '', 2));
      while (pages.at(-1)?.length === 2);
      assert.deepEqual(pages.flat(), expected);
    });

    it('shows created and destroyed keys to other nodes immediately', async () => {
      const other = opened.another();
      try {
        const one = await keys.obtain('one');
        assert.deepEqual(await other.obtain('one'), one);
        await keys.destroy('one');
        assert.equal(await other.obtain('one'), null);
      } finally {
        await other.close();
      }
    });

    it('keeps keys and destructions across a restart', async () => {
      const one = await keys.obtain('one');
      await keys.obtain('two');
      await keys.destroy('two');
      await keys.close();
      const again = opened.another();
      try {
        assert.deepEqual(await again.obtain('one'), one);
        assert.equal(await again.obtain('two'), null);
      } finally {
        await again.close();
      }
    });

    it('throws an UnavailableError once it is closed, and can be closed again', async () => {
      await keys.close();
      await keys.close();
      for (const call of [
        () => keys.obtain('one'),
        () => keys.find(['one']),
        () => keys.destroy('one'),
        () => keys.page('', 1),
      ]) {
        await assert.rejects(call, UnavailableError);
      }
    });
  });
}
