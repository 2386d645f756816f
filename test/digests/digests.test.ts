import assert from 'node:assert/strict';
import { createPrivateKey, type KeyObject } from 'node:crypto';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { openFolderBlobStore } from '#blob-store/blob-store.folder.ts';
import type { BlobStore } from '#blob-store/blob-store.ts';
import { DigestRefusedError, digestOf, digestText, leafOf } from '#digests/digest.ts';
import { DigestCheck } from '#digests/digest-check.ts';
import { DigestFolder } from '#digests/digest-folder.ts';
import { createSigningKey, publicHalf } from '#digests/digest-keys.ts';
import { DigestSchedule } from '#digests/digest-schedule.ts';
import { DigestStore } from '#digests/digest-store.ts';
import { DigestWriter } from '#digests/digest-writer.ts';
import { InclusionProofs } from '#digests/inclusion-proof.ts';
import { readNewHeads } from '#digests/new-heads.ts';
import type { Digest } from '#domain/history/digest.ts';
import type { StoredEvent } from '#event-store/event-store.ts';
import { verifyLog } from '#event-store/transfer/log-file/export-log.ts';
import { LogCheck } from '#event-store/transfer/log-file/log-check.ts';
import { NodeLeases } from '#leases/node-leases.ts';
import { replaceClock } from '#shared/clock.ts';
import { forgedStream, SealedLog } from '#test/support/events/sealed-log.ts';
import { InMemoryLeaseStore } from '#test/support/fakes/in-memory-lease-store.ts';
import { MemoryLog } from '#test/support/fakes/in-memory-log.ts';
import { countTurns } from '#test/support/harness/turns.ts';
import { rootOfProof } from '#test/support/log/root-of-proof.ts';

const metering = { stream: 'usage-1', revision: 0, id: 'u', type: 'Done', data: '{}', metadata: '{}' };
const never = new AbortController().signal;

describe('signed digests', () => {
  let folder: string;
  let key: KeyObject;
  let sealed: SealedLog;
  let log: MemoryLog;
  let blobs: BlobStore;
  let store: DigestStore;
  let outside: DigestFolder;
  let writer: DigestWriter;
  let now: number;
  let putClockBack: () => void;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'digests-'));
    key = createPrivateKey(createSigningKey());
    sealed = new SealedLog();
    log = new MemoryLog();
    blobs = await openFolderBlobStore(join(folder, 'blobs'));
    store = new DigestStore(blobs);
    outside = new DigestFolder(join(folder, 'outside'));
    now = Date.parse('2026-01-05T09:30:00.000Z');
    putClockBack = replaceClock({ time: () => now });
    writer = new DigestWriter({ eventLog: log, store, folder: outside, key });
  });

  afterEach(() => {
    putClockBack();
    rmSync(folder, { recursive: true });
  });

  /** Appends the next event of each stream, and writes a digest. */
  async function digestAfter(...streams: ReadonlyArray<string>): Promise<Digest> {
    await log.store(sealed.next(...streams));
    const digest = await writer.write(never);
    assert.ok(digest);
    return digest;
  }

  /** Checks a log of these events against the folder of digests, as an outsider does. */
  async function check(events: ReadonlyArray<StoredEvent>, keys = [publicHalf(key)]) {
    const [faults, notes]: [string[], string[]] = [[], []];
    const findings = { fault: (text: string) => faults.push(text), note: (text: string) => notes.push(text) };
    const digests = await DigestCheck.open(outside, keys, findings);
    const chains = new LogCheck(findings.fault);
    const onVerified = (event: Parameters<DigestCheck['add']>[0]) => digests.add(event, chains.heads);
    await verifyLog({ log: new MemoryLog(events), check: chains, report: () => {}, signal: never, onVerified });
    const held = await digests.finish(chains.heads);
    return { faults, notes, held };
  }

  async function blobIds(prefix: string): Promise<ReadonlyArray<string>> {
    const ids: string[] = [];
    for await (const { id } of blobs.list(prefix)) ids.push(id);
    return ids;
  }

  const outsideFiles = () => readdirSync(outside.path).sort();

  it('match the log that the digests were made from, even after later appends', async () => {
    await digestAfter('flow-a', 'flow-b', 'flow-a');
    await digestAfter('flow-c', 'flow-a');
    await log.store(sealed.next('flow-b', 'flow-d'));
    assert.deepEqual(await check(log.events), {
      faults: [],
      notes: [],
      held: '2 digests, the last of 2026-01-05T09:30:00.000Z',
    });
  });

  it('answers other requests between events that are large', async () => {
    const large = {
      stream: 'usage-1',
      type: 'Done',
      data: JSON.stringify({ text: 'x'.repeat(300_000) }),
      metadata: '{}',
    };
    await log.store(Array.from({ length: 20 }, (_, revision) => ({ ...large, revision, id: `u${revision}` })));
    const turns = countTurns();
    await readNewHeads(log, null, never);
    turns.end();
    assert.ok(turns.now() >= 19, `only ${turns.now()} turns`);
  });

  it('match the same log in another store with other positions', async () => {
    await digestAfter('flow-a', 'flow-b');
    assert.deepEqual((await check([metering, ...log.events])).faults, []);
  });

  it('leave out streams of metering', async () => {
    await log.store([metering]);
    const digest = await digestAfter('flow-a', 'flow-b');
    assert.deepEqual([digest.streams, digest.events], [2, 2]);
    assert.deepEqual((await check(log.events.filter(({ stream }) => stream !== 'usage-1'))).faults, []);
  });

  it('name the digest before, and are stored in the blob store and in the outside folder', async () => {
    const first = await digestAfter('flow-a');
    const second = await digestAfter('flow-a');
    assert.equal(first.previous, null);
    assert.deepEqual([second.previous?.chain, second.previous?.number], [1, 1]);
    assert.deepEqual(await store.newest(), second);
    assert.deepEqual(outsideFiles(), [
      'digest-000001-00000001.heads.ndjson.gz',
      'digest-000001-00000001.json',
      'digest-000001-00000002.heads.ndjson.gz',
      'digest-000001-00000002.json',
    ]);
    const heads = gunzipSync(readFileSync(join(outside.path, 'digest-000001-00000002.heads.ndjson.gz'))).toString();
    assert.match(heads, /^\{"hash":"[0-9a-f]{64}","revision":1,"stream":"flow-a"\}\n$/);
  });

  it('leave nothing behind when the node stops while the heads are read', async () => {
    const stopping = new AbortController();
    const stoppingStore = new DigestStore({
      ...blobs,
      size: (id) => blobs.size(id),
      get: (id, range) => blobs.get(id, range),
      put: (...put) => {
        stopping.abort(new Error('the node stops'));
        return blobs.put(...put);
      },
    });
    await log.store(sealed.next('flow-a', 'flow-b'));
    const stopped = new DigestWriter({ eventLog: log, store: stoppingStore, folder: outside, key });
    await assert.rejects(stopped.write(stopping.signal), /the node stops/);
    assert.deepEqual(await blobIds('digest-'), []);
    assert.equal(await store.newest(), null);
    assert.equal((await writer.write(never))?.streams, 2);
  });

  it('are written only when the log has changed', async () => {
    const first = await digestAfter('flow-a');
    assert.deepEqual(await writer.write(never), first);
  });

  it('hold all heads in every 24th file', async () => {
    const kinds: string[] = [];
    for (let number = 1; number <= 25; number += 1) kinds.push((await digestAfter(`flow-${number}`)).headsOf);
    assert.deepEqual(
      kinds.map((kind, index) => (kind === 'all' ? index + 1 : 0)).filter((number) => number > 0),
      [1, 25],
    );
    const [proof] = await Promise.all([new InclusionProofs(store).prove('flow-7')]);
    assert.equal(proof?.digest.streams, 25);
    assert.deepEqual((await check(log.events)).faults, []);
  });

  it('prove that a stream is in the newest digest', async () => {
    await digestAfter('flow-c', 'flow-a', 'flow-b');
    const { root, streams } = await digestAfter('flow-d', 'flow-a');
    const proofs = new InclusionProofs(store);
    for (const stream of ['flow-a', 'flow-b', 'flow-c', 'flow-d']) {
      const proof = await proofs.prove(stream);
      assert.ok(proof);
      const path = proof.path.map((hash) => Buffer.from(hash, 'hex'));
      assert.equal(rootOfProof(leafOf(proof.head), proof.index, streams, path)?.toString('hex'), root);
    }
    assert.equal((await proofs.prove('flow-a'))?.head.revision, 1);
    assert.equal(await proofs.prove('flow-x'), null);
  });

  describe('signed digests of an altered log', () => {
    beforeEach(async () => {
      await digestAfter('flow-a', 'flow-b', 'flow-a', 'flow-b');
      await digestAfter('flow-c', 'flow-a', 'flow-b');
    });

    const isFlow = (name: string) => (event: StoredEvent) => event.stream === `flow-${name}`;

    it('reveal that the last event of a stream was dropped', async () => {
      const dropped = log.events.filter((event) => !(isFlow('b')(event) && event.revision === 2));
      const { faults } = await check(dropped);
      assert.match(faults.join('\n'), /flow-b was shortened: it ends with revision 1, where it had revision 2/);
    });

    it('reveal that the last event of a stream was dropped before another append', async () => {
      const [forged] = forgedStream(log.events.filter(isFlow('b'))).slice(2);
      assert.ok(forged);
      const kept = log.events.filter((event) => !(isFlow('b')(event) && event.revision === 2));
      assert.match((await check([...kept, forged])).faults.join('\n'), /flow-b was (altered|shortened)/);
    });

    it('reveal that a stream was removed', async () => {
      const { faults } = await check(log.events.filter((event) => !isFlow('c')(event)));
      assert.match(faults.join('\n'), /flow-c was removed, as digest 2 of chain 1/);
    });

    it('reveal that two events of a stream were swapped', async () => {
      const [first, , third, ...others] = log.events;
      const second = log.events[1];
      assert.ok(first && second && third);
      const { faults } = await check([third, second, first, ...others]);
      assert.match(
        faults.join('\n'),
        /flow-a begins at revision 1, [^\n]+\nthe hash chain is broken at revision 0 of flow-a/,
      );
    });

    it('reveal that two events of different streams were swapped, although each stream is intact', async () => {
      const [first, second, ...others] = log.events;
      assert.ok(first && second);
      const { faults } = await check([second, first, ...others]);
      assert.match(faults.join('\n'), /the events up to digest 1 of chain 1 are not those .* or not in their order/);
    });

    it('reveal that a whole stream was sealed again', async () => {
      const forged = forgedStream(log.events.filter(isFlow('b')));
      const { faults } = await check(
        log.events.map((event) => (isFlow('b')(event) ? (forged.shift() ?? event) : event)),
      );
      assert.equal(faults.length, 2);
      assert.match(
        faults[0] ?? '',
        /^flow-b was altered: revision 1 or an earlier one is another, as digest 1 of chain 1/,
      );
    });

    it('reveal that a stream was inserted', async () => {
      const [first, ...others] = log.events;
      assert.ok(first);
      const { faults } = await check([first, ...new SealedLog().next('flow-x'), ...others]);
      assert.match(faults.join('\n'), /the events up to digest 1 of chain 1 are not those/);
    });

    it('reveal a change without the files of heads, but do not name the stream', async () => {
      for (const name of outsideFiles()) if (name.endsWith('.gz')) rmSync(join(outside.path, name));
      assert.deepEqual((await check(log.events)).faults, []);
      const forged = forgedStream(log.events.filter(isFlow('b')));
      const { faults } = await check(
        log.events.map((event) => (isFlow('b')(event) ? (forged.shift() ?? event) : event)),
      );
      assert.match(faults.join('\n'), /the events up to digest 1 of chain 1 are not those/);
    });
  });

  describe('check of a folder of digests', () => {
    const second = 'digest-000001-00000002.json';

    beforeEach(async () => {
      await digestAfter('flow-a', 'flow-b');
      await digestAfter('flow-a');
      await digestAfter('flow-b');
    });

    it('finds a digest that another key signed', async () => {
      const other = publicHalf(createPrivateKey(createSigningKey()));
      const { faults, held } = await check(log.events, [other]);
      assert.match(faults.join('\n'), /digest 1 of chain 1 is not signed by a key that is trusted/);
      assert.equal(held, 'no digest is genuine');
    });

    it('finds a digest that was changed', async () => {
      const digest = digestOf(readFileSync(join(outside.path, second), 'utf8'));
      assert.ok(digest);
      writeFileSync(join(outside.path, second), digestText({ ...digest, events: digest.events + 1 }));
      assert.match((await check(log.events)).faults.join('\n'), /digest 2 of chain 1 is not signed/);
    });

    it('finds a digest that is no longer JSON', async () => {
      writeFileSync(join(outside.path, second), '{');
      assert.match((await check(log.events)).faults.join('\n'), /digest 2 of chain 1 cannot be read/);
    });

    it('finds that a digest is missing', async () => {
      rmSync(join(outside.path, second));
      assert.match((await check(log.events)).faults.join('\n'), /digest 3 of chain 1 does not follow digest 1/);
    });

    it('finds a file of heads that was changed', async () => {
      const file = join(outside.path, second.replace('.json', '.heads.ndjson.gz'));
      writeFileSync(file, gzipSync(gunzipSync(readFileSync(file)).toString().replace('flow-a', 'flow-b')));
      assert.match((await check(log.events)).faults.join('\n'), /the file of heads of digest 2 of chain 1 was altered/);
    });
  });

  it('show a holder of only later digests that earlier digests are missing', async () => {
    await digestAfter('flow-a', 'flow-b');
    await digestAfter('flow-a');
    for (const name of outsideFiles()) if (name.includes('-00000001')) rmSync(join(outside.path, name));
    const { faults, notes } = await check(log.events);
    assert.deepEqual(faults, []);
    assert.match(notes.join('\n'), /the digests begin with digest 2 of chain 1/);
  });

  describe('refused digests', () => {
    beforeEach(async () => {
      await digestAfter('flow-a', 'flow-b', 'flow-a');
    });

    const refused = (reason: RegExp) =>
      assert.rejects(writer.write(never), (error) => error instanceof DigestRefusedError && reason.test(error.message));

    it('refuse a log that has lost its last event', async () => {
      log.events.pop();
      await refused(/The log has no event .*, which digest 1 of chain 1 names as its last one.*--after-restore/);
    });

    it('refuse a stream whose new events follow another history', async () => {
      const forged = forgedStream([
        ...log.events.filter(({ stream }) => stream === 'flow-b'),
        ...sealed.next('flow-b'),
      ]);
      await log.store(forged.slice(1));
      await refused(/The new events of flow-b do not follow revision 0/);
    });

    it('refuse a stream that begins in its middle', async () => {
      await log.store(forgedStream([...new SealedLog().next('flow-x', 'flow-x')]).slice(1));
      await refused(/flow-x has new events, and is in no digest before/);
    });

    it('refuse a new event that differs from the sealed one', async () => {
      const [event] = sealed.next('flow-a');
      assert.ok(event);
      await log.store([{ ...event, data: '{"number":7}' }]);
      await refused(/the hash chain is broken at revision 2 of flow-a/);
    });

    it('refuse a changed file of heads in the blob store', async () => {
      await log.store(sealed.next('flow-a'));
      const file = join(folder, 'blobs', 'files', (await blobIds('digest-1-1-heads'))[0] ?? '');
      const forged = gunzipSync(readFileSync(file)).toString().replace('"revision":0', '"revision":5');
      writeFileSync(file, gzipSync(forged));
      await refused(/do not give the root of digest 1 of chain 1/);
    });

    it('refuse a chain in the blob store that is shorter than the chain in the outside folder', async () => {
      await digestAfter('flow-a');
      rmSync(join(folder, 'blobs', 'files', 'digest-1-2'));
      await log.store(sealed.next('flow-a'));
      await refused(/has digest 2 of chain 1, and the blob store has not the same one/);
    });
  });

  it('begin a new chain after a restore, which names the last digest and which the check reports', async () => {
    await digestAfter('flow-a', 'flow-b');
    cpSync(join(folder, 'blobs'), join(folder, 'backup'), { recursive: true });
    const backup = [...log.events];
    const lost = await digestAfter('flow-a');
    log.events.splice(0, log.events.length, ...backup);
    rmSync(join(folder, 'blobs'), { recursive: true });
    cpSync(join(folder, 'backup'), join(folder, 'blobs'), { recursive: true });
    await assert.rejects(writer.write(never), DigestRefusedError);
    const begun = await writer.beginChain(never);
    assert.deepEqual([begun?.chain, begun?.number], [2, 1]);
    assert.deepEqual([begun?.previous?.chain, begun?.previous?.number], [lost.chain, lost.number]);
    const { faults, notes } = await check(log.events);
    assert.deepEqual(faults, []);
    assert.match(notes.join('\n'), /digest 1 of chain 2 began a new chain/);
    assert.match(notes.join('\n'), /the last one of digest 2 of chain 1 .*: a restore has given it up since/);
    await log.store(new SealedLog().next('flow-n'));
    assert.equal((await writer.write(never))?.number, 2);
  });

  it('are copied to a folder that lacks some digests', async () => {
    await digestAfter('flow-a');
    await digestAfter('flow-a');
    rmSync(outside.path, { recursive: true });
    await writer.copy(never);
    assert.equal(outsideFiles().length, 4);
  });

  it('are read with the name that 0.5.0 gave their heads', async () => {
    await digestAfter('flow-a', 'flow-b');
    const [heads = ''] = await blobIds('digest-1-1-heads-');
    const content = await blobs.get(heads);
    assert.ok(content);
    await blobs.put('digest-1-1-heads', content, 1_000_000);
    await blobs.delete(heads);
    assert.equal((await digestAfter('flow-a')).streams, 2);
    assert.notEqual(await new InclusionProofs(store).prove('flow-b'), null);
  });

  it('are written every hour in which something changed', async () => {
    const quiet = { info: () => {}, warn: () => {}, error: () => {} };
    const schedule = new DigestSchedule({ writer, leases: null, node: 'one', log: quiet });
    await log.store(sealed.next('flow-a'));
    assert.equal(await schedule.writeIfDue(), 3_600_000);
    await log.store(sealed.next('flow-a'));
    now += 3_599_000;
    assert.equal(await schedule.writeIfDue(), 1_000);
    assert.equal((await writer.newest())?.number, 1);
    now += 1_000;
    await schedule.writeIfDue();
    assert.equal((await writer.newest())?.number, 2);
    now += 3_600_000;
    await schedule.writeIfDue();
    assert.equal((await writer.newest())?.number, 2);
    await schedule.stop();
  });

  it('form one chain when several nodes write at the same time', async () => {
    const quiet = { info: () => {}, warn: () => {}, error: () => {} };
    const leases = new InMemoryLeaseStore();
    const nodes = ['one', 'two', 'three'].map((node) => {
      const own = new DigestFolder(join(folder, node));
      const nodeWriter = new DigestWriter({ eventLog: log, store, folder: own, key });
      return new DigestSchedule({
        writer: nodeWriter,
        leases: new NodeLeases({ store: leases }),
        node,
        log: quiet,
      });
    });
    await log.store(sealed.next('flow-a'));
    await Promise.all(nodes.map((node) => node.writeIfDue()));
    assert.equal((await writer.newest())?.number, 1);
    await log.store(sealed.next('flow-b'));
    const written = await Promise.all(nodes.map((node) => node.write(false)));
    assert.deepEqual(
      written.map((digest) => digest?.number),
      [2, 2, 2],
    );
    await Promise.all(nodes.map((node) => node.stop()));
    for (const node of ['one', 'two', 'three']) assert.equal(readdirSync(join(folder, node)).length, 4);
  });
});
