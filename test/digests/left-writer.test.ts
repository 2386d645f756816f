import assert from 'node:assert/strict';
import { createPrivateKey } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, statSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { openFolderBlobStore } from '#blob-store/blob-store.folder.ts';
import type { BlobStore } from '#blob-store/blob-store.ts';
import { DigestRefusedError } from '#digests/digest.ts';
import { DigestCheck } from '#digests/digest-check.ts';
import { type DigestFiles, DigestFilesInFolder } from '#digests/digest-files.ts';
import { DigestFolder } from '#digests/digest-folder.ts';
import { createSigningKey, publicHalf } from '#digests/digest-keys.ts';
import { DigestStore } from '#digests/digest-store.ts';
import { DigestWriter } from '#digests/digest-writer.ts';
import { InclusionProofs } from '#digests/inclusion-proof.ts';
import { verifyLog } from '#event-store/transfer/log-file/export-log.ts';
import { LogCheck } from '#event-store/transfer/log-file/log-check.ts';
import { PortHandle } from '#shared/async/port-handle.ts';
import { replaceClock } from '#shared/clock.ts';
import { TermLeftError } from '#shared/errors/fenced-error.ts';
import { SealedLog } from '#test/support/events/sealed-log.ts';
import { MemoryLog } from '#test/support/fakes/in-memory-log.ts';

const never = new AbortController().signal;
const key = createPrivateKey(createSigningKey());

/** A point where a writer stops, as on a frozen node, until it wakes. */
class Halt {
  readonly #reached = Promise.withResolvers<void>();
  readonly #woken = Promise.withResolvers<void>();

  async pass(): Promise<void> {
    this.#reached.resolve();
    await this.#woken.promise;
  }

  get reached(): Promise<void> {
    return this.#reached.promise;
  }

  wake(): void {
    this.#woken.resolve();
  }
}

describe('A writer of digests that the lease has left', () => {
  let folder: string;
  let outside: string;
  let blobs: BlobStore;
  let sealed: SealedLog;
  let log: MemoryLog;
  let time: number;
  let putClockBack: () => void;

  beforeEach(async () => {
    time = 0;
    putClockBack = replaceClock({ time: () => time });
    folder = mkdtempSync(join(tmpdir(), 'left-writer-'));
    outside = join(folder, 'outside');
    blobs = await openFolderBlobStore(join(folder, 'blobs'));
    sealed = new SealedLog();
    log = new MemoryLog();
    await log.store(sealed.next('flow-a', 'flow-b'));
    await writerOn(blobs).write(never);
    await log.store(sealed.next('flow-a'));
  });
  afterEach(() => {
    putClockBack();
    rmSync(folder, { recursive: true });
  });

  /** A node's writer. All nodes share the external folder. */
  function writerOn(store: BlobStore, files: DigestFiles = new DigestFilesInFolder(outside)): DigestWriter {
    const shared = { eventLog: log, folder: new DigestFolder(outside, files), key };
    return new DigestWriter({ ...shared, store: new DigestStore(store) });
  }

  /** Finds what an outsider finds, and proves a stream in the newest digest. */
  async function assertWhole(): Promise<void> {
    const faults: string[] = [];
    const fault = (text: string) => faults.push(text);
    const digests = await DigestCheck.open(new DigestFolder(outside), [publicHalf(key)], { fault, note: fault });
    const chains = new LogCheck(fault);
    const onVerified = (event: Parameters<DigestCheck['add']>[0]) => digests.add(event, chains.heads);
    await verifyLog({ log, check: chains, report: () => {}, signal: never, onVerified });
    await digests.finish(chains.heads);
    assert.deepEqual(faults, []);
    assert.ok(await new InclusionProofs(new DigestStore(blobs)).prove('flow-b'));
    assert.deepEqual(
      readdirSync(outside).filter((name) => name.endsWith('.part')),
      [],
    );
  }

  const inodes = () => readdirSync(outside).map((name) => [name, statSync(join(outside, name)).ino]);

  for (const isNoticed of [true, false]) {
    const how = isNoticed ? 'noticed' : 'not noticed';
    for (const held of [/^digest-1-2-heads/, /^digest-1-2$/]) {
      it(`replaces nothing in the blob store when its put of ${held.source} comes late and the loss is ${how}`, async () => {
        const halt = new Halt();
        const put: BlobStore['put'] = async (id, ...rest) => {
          if (held.test(id)) await halt.pass();
          return blobs.put(id, ...rest);
        };
        const leaving = new AbortController();
        const late = { put, get: blobs.get.bind(blobs), size: blobs.size.bind(blobs) } as BlobStore;
        const left = writerOn(late).write(leaving.signal);
        const outcome = left.catch((error: unknown) => error);
        await halt.reached;
        await log.store(sealed.next('flow-b', 'flow-c'));
        const other = await writerOn(blobs).write(never);
        assert.equal(other?.number, 2);
        if (isNoticed) leaving.abort(new Error('left'));
        halt.wake();
        assert.deepEqual(await outcome, isNoticed ? new Error('left') : other);
        await assertWhole();
        await log.store(sealed.next('flow-c'));
        assert.equal((await writerOn(blobs).write(never))?.number, 3);
        await assertWhole();
      });
    }
  }

  for (const held of ['heads.ndjson.gz', '.json']) {
    it(`replaces no file of the external folder when it adds its ${held} late`, async () => {
      const halt = new Halt();
      const files = new DigestFilesInFolder(outside);
      const late: DigestFiles = {
        path: outside,
        names: () => files.names(),
        has: (name) => files.has(name),
        readText: (name) => files.readText(name),
        open: (name) => files.open(name),
        remove: (name) => files.remove(name),
        add: async (name, content) => {
          if (name.endsWith(held)) await halt.pass();
          return files.add(name, content);
        },
      };
      const left = writerOn(blobs, late).write(never);
      await halt.reached;
      await log.store(sealed.next('flow-b'));
      assert.equal((await writerOn(blobs).write(never))?.number, 3);
      const before = inodes();
      halt.wake();
      assert.equal((await left)?.number, 2);
      assert.deepEqual(inodes(), before);
      await assertWhole();
    });
  }

  it('reads and writes nothing through the closed handle of its term', async () => {
    const handle = new PortHandle(() => new TermLeftError('left'));
    const writer = writerOn(blobs).inTerm({ guard: (port) => handle.guard(port) });
    assert.equal((await writer.write(never))?.number, 2);
    await log.store(sealed.next('flow-b'));
    handle.close();
    await assert.rejects(writer.write(never), TermLeftError);
    assert.equal((await writerOn(blobs).newest())?.number, 2);
  });

  it('leaves an unfinished file that a later writer removes', async () => {
    const part = join(outside, 'digest-000001-00000002.json.left.part');
    writeFileSync(part, 'half');
    utimesSync(part, 0, 0);
    time = 2 * 3_600_000;
    assert.equal((await writerOn(blobs).write(never))?.number, 2);
    await assertWhole();
  });

  it('leaves heads without a digest, which the digest at their place replaces after a restore', async () => {
    const writing = writerOn(blobs);
    const digest = await writing.write(never);
    assert.ok(digest);
    // The node ended before it added the digest, and the blob store was restored from before it.
    rmSync(join(outside, 'digest-000001-00000002.json'));
    await blobs.delete('digest-1-2');
    await log.store(sealed.next('flow-c'));
    assert.equal((await writing.write(never))?.number, 2);
    await assertWhole();
  });

  it('keeps heads that it cannot read now, and replaces heads that are cut off', async () => {
    const writing = writerOn(blobs);
    assert.ok(await writing.write(never));
    rmSync(join(outside, 'digest-000001-00000002.json'));
    const heads = join(outside, 'digest-000001-00000002.heads.ndjson.gz');
    const before = inodes();
    const files = new DigestFilesInFolder(outside);
    const failed = Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO', errno: -5, syscall: 'read' });
    files.open = () =>
      new Readable({
        read() {
          this.destroy(failed);
        },
      });
    await assert.rejects(writerOn(blobs, files).copy(never), failed);
    assert.deepEqual(inodes(), before);
    truncateSync(heads, statSync(heads).size - 4);
    await writing.copy(never);
    await assertWhole();
  });

  it('finds another digest at its place in the external folder, and refuses', async () => {
    const other = mkdtempSync(join(tmpdir(), 'other-log-'));
    try {
      time = 1;
      const theirs = new DigestStore(await openFolderBlobStore(other));
      const writer = new DigestWriter({
        eventLog: log,
        store: theirs,
        folder: new DigestFolder(join(folder, 'theirs')),
        key,
      });
      const digest = await writer.write(never);
      assert.ok(digest);
      const folderOfOthers = new DigestFolder(outside);
      await assert.rejects(
        folderOfOthers.add(digest, () => theirs.heads(digest)),
        DigestRefusedError,
      );
    } finally {
      rmSync(other, { recursive: true });
    }
  });
});
