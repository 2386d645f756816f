import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFolderBlobStore } from '#blob-store/blob-store.folder.ts';
import { blobStoreContract } from '#test/contract/blob-store.ts';
import { blobSweepContract } from '#test/contract/blob-sweep.ts';

const newFolder = () => mkdtemp(join(tmpdir(), 'blobs-'));

blobStoreContract('folder', async () => {
  const folder = await newFolder();
  return {
    store: await openFolderBlobStore(folder),
    reopen: () => openFolderBlobStore(folder),
    dispose: () => rm(folder, { recursive: true }),
  };
});

describe('folder blob store', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await newFolder();
  });
  afterEach(() => rm(folder, { recursive: true }));
  blobSweepContract('folder', () => openFolderBlobStore(folder));
});

describe('openFolderBlobStore', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await newFolder();
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('removes files half-written by an ended process when it opens the folder', async () => {
    await openFolderBlobStore(folder);
    await writeFile(join(folder, 'unfinished', 'half'), 'half');
    await openFolderBlobStore(folder);
    assert.deepEqual(await readdir(join(folder, 'unfinished')), []);
  });

  it('leaves no half-written file when a put fails', async () => {
    const store = await openFolderBlobStore(folder);
    const failing = async function* () {
      yield Buffer.from('half');
      throw new Error('gone');
    };
    await assert.rejects(store.put('file', failing(), 100), /gone/);
    assert.deepEqual(await readdir(join(folder, 'unfinished')), []);
    assert.deepEqual(await readdir(join(folder, 'files')), []);
  });
});
