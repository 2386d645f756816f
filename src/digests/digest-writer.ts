import type { KeyObject } from 'node:crypto';
import type { Digest, DigestPlace, StreamHead } from '#domain/history/digest.ts';
import type { RawLog } from '#event-store/transfer/raw-log.ts';
import type { Term } from '#leases/term.ts';
import { clock } from '#shared/clock.ts';
import { currentHeads } from './current-heads.ts';
import { comparePlaces, DigestRefusedError, digestReference, leafOf, signDigest } from './digest.ts';
import type { DigestFolder } from './digest-folder.ts';
import type { DigestStore } from './digest-store.ts';
import { headsFile } from './heads-file.ts';
import { MerkleTree } from './merkle-tree.ts';
import { type NewHeads, readNewHeads } from './new-heads.ts';

/** Number of digests between two files of all heads. It limits the files that must be read for the present heads. */
const digestsPerFullFile = 24;

export interface DigestWriterOptions {
  readonly eventLog: RawLog;
  readonly store: DigestStore;
  /** The external folder with copies. */
  readonly folder: DigestFolder;
  readonly key: KeyObject;
}

/** Writes digests. One writes at a time: see `DigestSchedule`. A writer without the lease replaces nothing. */
export class DigestWriter {
  readonly #options: DigestWriterOptions;

  constructor(options: DigestWriterOptions) {
    this.#options = options;
  }

  /** After the term, the returned writer reads and writes nothing more. */
  inTerm({ guard }: Pick<Term, 'guard'>): DigestWriter {
    const { eventLog, store, folder, key } = this.#options;
    return new DigestWriter({ eventLog: guard(eventLog), store: guard(store), folder: guard(folder), key });
  }

  /** Null without one. @throws UnavailableError */
  newest(): Promise<Digest | null> {
    return this.#options.store.newest();
  }

  /**
   * Continues the chain.
   * @returns the new digest, or the newest one if no chained stream has changed since; null for an empty log
   * @throws DigestRefusedError; UnavailableError; what the file system throws; the signal's reason
   */
  async write(signal: AbortSignal): Promise<Digest | null> {
    const { store, eventLog } = this.#options;
    for (;;) {
      await this.copy(signal);
      const last = await store.newest();
      const heads = await readNewHeads(eventLog, last, signal);
      if (heads.changed.length === 0) return last;
      const place = last === null ? { chain: 1, number: 1 } : { chain: last.chain, number: last.number + 1 };
      const digest = await this.#put(place, last, last, heads, signal);
      if (digest !== null) return digest;
    }
  }

  /**
   * Begins a new chain, whose first digest names the last one of the chain before.
   * @returns the new digest; null for an empty log
   * @throws as `write` does
   */
  async beginChain(signal: AbortSignal): Promise<Digest | null> {
    for (;;) {
      const last = await this.#newestAnywhere();
      const heads = await readNewHeads(this.#options.eventLog, null, signal);
      if (heads.changed.length === 0) return null;
      const digest = await this.#put({ chain: (last?.chain ?? 0) + 1, number: 1 }, last, null, heads, signal);
      if (digest !== null) return digest;
    }
  }

  /**
   * Copies the digests that the external folder lacks.
   * @throws DigestRefusedError if the folder has other digests than the store; the signal's reason
   */
  async copy(signal: AbortSignal): Promise<void> {
    const { store, folder } = this.#options;
    const copied = await folder.places();
    await this.#ensureSame(copied.at(-1));
    const names = new Set(copied.map(nameOf));
    const lastChain = await store.lastChain();
    for (let chain = 1; chain <= lastChain; chain += 1) {
      const lastNumber = await store.lastNumber(chain);
      for (let number = 1; number <= lastNumber; number += 1) {
        if (names.has(nameOf({ chain, number }))) continue;
        const digest = await store.read({ chain, number });
        signal.throwIfAborted();
        await folder.add(digest, () => store.heads(digest));
      }
    }
  }

  /**
   * Refuses an external folder with another digest: an attacker who changes the chain in the blob store cannot change
   * that folder.
   */
  async #ensureSame(copied: DigestPlace | undefined): Promise<void> {
    const { store, folder } = this.#options;
    if (copied === undefined) return;
    const newest = await store.newest();
    // After a restore, a new chain may follow one whose end the store has lost.
    if (newest !== null && newest.chain > copied.chain) return;
    const isThere = newest !== null && comparePlaces(copied, newest) <= 0;
    const [inFolder, inStore] = isThere ? [await folder.read(copied), await store.read(copied)] : [null, null];
    if (inFolder !== null && inStore !== null && inFolder.signature === inStore.signature) return;
    throw new DigestRefusedError(
      `${folder.path} has digest ${copied.number} of chain ${copied.chain}, and the blob store has not the same one: it ` +
        'was altered, or restored from a backup. After a restore, run events digest --after-restore.',
    );
  }

  async #newestAnywhere(): Promise<Digest | null> {
    const { store, folder } = this.#options;
    const inStore = await store.newest();
    const copied = (await folder.places()).at(-1);
    if (copied === undefined || (inStore !== null && comparePlaces(copied, inStore) <= 0)) return inStore;
    const inFolder = await folder.read(copied);
    if (inFolder !== null) return inFolder;
    throw new DigestRefusedError(`Digest ${copied.number} of chain ${copied.chain} in ${folder.path} cannot be read.`);
  }

  /**
   * @param since the digest whose heads the new ones follow; null for the whole log
   * @returns null if another writer, which the lease has passed to or from, has stored a digest at this place
   */
  async #put(
    place: DigestPlace,
    previous: Digest | null,
    since: Digest | null,
    { changed, ...read }: NewHeads,
    signal: AbortSignal,
  ): Promise<Digest | null> {
    const { store, folder, key } = this.#options;
    const headsOf = place.number % digestsPerFullFile === 1 ? 'all' : 'changed';
    const tree = new MerkleTree();
    const all = inTree(tree, currentHeads(store, since, changed), signal);
    const file = headsFile(headsOf === 'all' ? all : inOrder(changed));
    await store.putHeads({ ...place, sequence: read.sequence }, file);
    // A file of all heads has passed them through the tree already.
    if (headsOf === 'changed') await readToEnd(all);
    const root = tree.root().toString('hex');
    const statement = { ...place, ...read, time: new Date(clock.time()).toISOString(), streams: tree.size, root };
    const reference = previous === null ? null : digestReference(previous);
    const digest = signDigest({ ...statement, headsOf, headsHash: file.hash(), previous: reference }, key);
    signal.throwIfAborted();
    const isStored = await store.put(digest);
    signal.throwIfAborted();
    if (!isStored) return null;
    await folder.add(digest, () => store.heads(digest));
    return digest;
  }
}

/** Passes the heads on, and adds each to the tree as it is read. @throws the signal's reason */
async function* inTree(
  tree: MerkleTree,
  heads: AsyncIterable<StreamHead>,
  signal: AbortSignal,
): AsyncGenerator<StreamHead, void, void> {
  for await (const head of heads) {
    signal.throwIfAborted();
    tree.add(leafOf(head));
    yield head;
  }
}

async function readToEnd(heads: AsyncIterator<StreamHead>): Promise<void> {
  while ((await heads.next()).done !== true);
}

async function* inOrder(heads: Iterable<StreamHead>): AsyncGenerator<StreamHead, void, void> {
  yield* heads;
}

function nameOf({ chain, number }: DigestPlace): string {
  return `${chain}-${number}`;
}
