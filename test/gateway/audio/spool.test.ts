import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { ByteBudget } from '#exchange/byte-budget.ts';
import { SpoolFolder } from '#gateway/audio/spool-folder.ts';
import { FreeSpace } from '#shared/files/free-space.ts';

const budget = new ByteBudget({ maxBytesPerProject: 100_000_000, maxBytes: 100_000_000 });

describe('Spool', () => {
  let folder: string;
  const spools = () => new SpoolFolder({ folder, budget, freeSpace: new FreeSpace({ folders: [], minFreeBytes: 0 }) });
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'switchyard-spool-'));
  });
  after(() => rm(folder, { recursive: true }));

  for (const [what, size] of [
    ['in memory', 100_000],
    ['in a file', 3_500_000],
  ] as const)
    it(`returns any range of what it keeps ${what}, as often as it is read`, async () => {
      const all = randomBytes(size);
      const spool = spools().open('cproject01', budget.hold('cproject01'));
      for (let at = 0; at < size; at += 65_536) await spool.write(all.subarray(at, at + 65_536));
      await spool.finish();
      assert.equal(spool.bytes, size);
      assert.deepEqual(await readdir(folder), [], 'the file has no name');
      const put = Buffer.from('put between');
      const body = spool.body([{ start: 0, end: 70_000 }, put, { start: 90_000, end: size }]);
      const expected = Buffer.concat([all.subarray(0, 70_000), put, all.subarray(90_000)]);
      assert.equal(body.bytes, expected.length);
      for (let time = 0; time < 2; time += 1) assert.ok((await buffer(body.open())).equals(expected));
      assert.ok((await buffer(spool.body([{ start: size - 10, end: size }]).open())).equals(all.subarray(-10)));
      await spool.close();
    });

  it('refuses reads after it is closed', async () => {
    const spool = spools().open('cproject01', budget.hold('cproject01'));
    await spool.write(randomBytes(2_000_000));
    await spool.finish();
    const body = spool.body([{ start: 0, end: spool.bytes }]);
    await spool.close();
    await assert.rejects(buffer(body.open()), /not kept/);
  });
});
