import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { FreeSpace } from '#shared/files/free-space.ts';

const gibibyte = 1024 * 1024 * 1024;

describe('FreeSpace', () => {
  const volumes: Record<string, { totalBytes: number; freeBytes: number }> = {
    '/small': { totalBytes: 1_000, freeBytes: 100 },
    '/large': { totalBytes: 1_000 * gibibyte, freeBytes: 2 * gibibyte },
  };
  const volumeOf = async (folder: string) => volumes[folder] ?? Promise.reject(new Error('no such folder'));

  it('requires 5% of the volume that is written to, or 1 GiB where that is less, to stay free', async () => {
    const space = new FreeSpace({ folders: [], minFreeBytes: null, volumeOf });
    assert.equal(await space.hasRoomFor('/small', 50), true);
    assert.equal(await space.hasRoomFor('/small', 51), false);
    assert.equal(await space.hasRoomFor('/large', gibibyte), true);
    assert.equal(await space.hasRoomFor('/large', gibibyte + 1), false);
  });

  it('requires room on every other volume too', async () => {
    const space = new FreeSpace({ folders: ['/small', '/large'], minFreeBytes: 101, volumeOf });
    assert.equal(await space.hasRoomFor('/large', 1), false);
    const less = new FreeSpace({ folders: ['/small', '/large'], minFreeBytes: 100, volumeOf });
    assert.equal(await less.hasRoomFor('/large', 1), true);
  });

  it('allows a write to a volume whose free space the system does not report', async () => {
    assert.equal(await new FreeSpace({ folders: ['/gone'], minFreeBytes: 1, volumeOf }).hasRoomFor('/gone', 1), true);
  });

  it('measures the free space of a real folder', async () => {
    assert.equal(await new FreeSpace({ folders: [], minFreeBytes: 0 }).hasRoomFor(tmpdir(), 1), true);
    const most = Number.MAX_SAFE_INTEGER;
    assert.equal(await new FreeSpace({ folders: [tmpdir()], minFreeBytes: most }).hasRoomFor(tmpdir(), 0), false);
  });
});
