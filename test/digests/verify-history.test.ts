import assert from 'node:assert/strict';
import { createPrivateKey, type KeyObject } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFolderBlobStore } from '#blob-store/blob-store.folder.ts';
import { DigestFolder } from '#digests/digest-folder.ts';
import { createSigningKey, publicHalf } from '#digests/digest-keys.ts';
import { DigestStore } from '#digests/digest-store.ts';
import { DigestWriter } from '#digests/digest-writer.ts';
import { verifyHistory } from '#digests/verify-history.ts';
import type { Digest } from '#domain/history/digest.ts';
import type { StoredEvent } from '#event-store/event-store.ts';
import { LogError } from '#event-store/transfer/log-failure.ts';
import { forgedStream, SealedLog } from '#test/support/events/sealed-log.ts';
import { MemoryLog } from '#test/support/fakes/in-memory-log.ts';

const never = new AbortController().signal;

describe('verifyHistory', () => {
  let path: string;
  let key: KeyObject;
  let sealed: SealedLog;
  let log: MemoryLog;
  let folder: DigestFolder;
  let writer: DigestWriter;
  beforeEach(async () => {
    path = mkdtempSync(join(tmpdir(), 'verification-'));
    key = createPrivateKey(createSigningKey());
    sealed = new SealedLog();
    log = new MemoryLog();
    folder = new DigestFolder(join(path, 'outside'));
    const store = new DigestStore(await openFolderBlobStore(join(path, 'blobs')));
    writer = new DigestWriter({ eventLog: log, store, folder, key });
  });
  afterEach(() => rmSync(path, { recursive: true }));

  const digestAfter = async (...streams: ReadonlyArray<string>): Promise<Digest> => {
    await log.store(sealed.next(...streams));
    return (await writer.write(never)) ?? assert.fail('no digest was written');
  };
  const verify = (since: Digest | null, events: ReadonlyArray<StoredEvent> = log.events, keys = [publicHalf(key)]) =>
    verifyHistory({ log: new MemoryLog(events), folder, keys, since });
  /** The log with another content of the stream's events. */
  const forged = (stream: string, from = 0) => {
    const events = log.events.filter((event) => event.stream === stream);
    const changed = new Map(forgedStream(events).map((event) => [event.id, event]));
    return log.events.map((event, index) => (index >= from ? (changed.get(event.id) ?? event) : event));
  };

  it('finds nothing in a log that nobody altered, whole or from a digest on', async () => {
    const first = await digestAfter('flow-a', 'flow-b');
    const second = await digestAfter('flow-a', 'flow-c');
    await log.store(sealed.next('flow-d'));
    const found = { findings: [], findingCount: 0, digest: { chain: 1, number: 2 } };
    assert.deepEqual(await verify(null), { ...found, isWhole: true, events: 5 });
    assert.deepEqual(await verify(first), { ...found, isWhole: false, events: 3 });
    assert.deepEqual(await verify(second), { ...found, isWhole: false, events: 1 });
  });

  it('names the altered streams of the whole log', async () => {
    await digestAfter('flow-a', 'flow-b');
    const { findings, digest, findingCount } = await verify(null, forged('flow-a'));
    assert.match(findings.join('\n'), /^flow-a was altered: .*, as digest 1 of chain 1 /m);
    assert.deepEqual([digest, findingCount], [null, findings.length]);
  });

  it('finds new events that were exchanged for others, although their chain is whole', async () => {
    const first = await digestAfter('flow-a');
    await digestAfter('flow-b', 'flow-c');
    const { findings, isWhole, digest } = await verify(first, forged('flow-b', 1));
    assert.deepEqual([isWhole, digest], [false, null]);
    assert.match(
      findings.join('\n'),
      /^the events from digest 1 to digest 2 of chain 1 are not those that the digests/,
    );
  });

  it('finds new events that are missing', async () => {
    const first = await digestAfter('flow-a');
    await digestAfter('flow-b', 'flow-c');
    const { findings } = await verify(first, log.events.slice(0, 1));
    assert.match(findings.join('\n'), /^the events from digest 1 to digest 2 of chain 1 are not those/);
  });

  it('finds a broken chain after the newest digest', async () => {
    const first = await digestAfter('flow-a');
    await log.store(sealed.next('flow-a', 'flow-a', 'flow-a'));
    const withoutOne = log.events.filter((_, index) => index !== 2);
    const { findings } = await verify(first, withoutOne);
    assert.match(findings.join('\n'), /flow-a has revision 3, .+ in place of 2: events between are missing/);
  });

  it('finds a digest that another key has signed', async () => {
    const first = await digestAfter('flow-a');
    const other = publicHalf(createPrivateKey(createSigningKey()));
    const { findings } = await verify(first, log.events, [other]);
    assert.match(findings.join('\n'), /digest 1 of chain 1 is not signed by a key that is trusted/);
  });

  it('verifies the whole log when the digest is of an earlier chain', async () => {
    const first = await digestAfter('flow-a');
    await writer.beginChain(never);
    const { isWhole, digest, findings } = await verify(first);
    assert.deepEqual([isWhole, digest, findings], [true, { chain: 2, number: 1 }, []]);
  });

  it('keeps the first findings of many, and counts all', async () => {
    const streams = Array.from({ length: 50 }, (_, index) => `flow-${index}`);
    await digestAfter(...streams);
    const all = streams.flatMap((stream) => forgedStream(log.events.filter((event) => event.stream === stream)));
    const { findings, findingCount } = await verify(null, all);
    assert.equal(findings.length, 20);
    assert.ok(findingCount >= 50, `${findingCount} findings`);
  });

  it('refuses to verify against no digest', async () => {
    await log.store(sealed.next('flow-a'));
    await assert.rejects(verify(null), LogError);
  });
});
