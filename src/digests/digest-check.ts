import type { KeyObject } from 'node:crypto';
import type { Digest, StreamHead } from '#domain/history/digest.ts';
import type { ReadonlyChainHeads } from '#event-store/chain-heads.ts';
import { type ChainHead, isChained } from '#event-store/hash-chain.ts';
import { LogError } from '#event-store/transfer/log-failure.ts';
import type { RawEvent } from '#event-store/transfer/raw-log.ts';
import { digestReference, emptySequence, isSignedBy, leafOf, sequenceAfter, sortedStreams } from './digest.ts';
import type { DigestFolder } from './digest-folder.ts';
import { keyIdOf } from './digest-keys.ts';
import { readHeads } from './heads-file.ts';
import { MerkleTree } from './merkle-tree.ts';

/** Each stream of a log with its last event. */
type Heads = ReadonlyChainHeads;

/** Where a check reports. A notice is for the auditor. */
export interface Findings {
  readonly fault: (text: string) => void;
  readonly note: (text: string) => void;
}

/**
 * Compares a log with signed digests. It finds the end of each digest by the id of its last event, not by a position,
 * so it also works on a log that was moved to another store.
 */
export class DigestCheck {
  readonly #folder: DigestFolder;
  readonly #findings: Findings;
  /** The digests in the order of their chain. */
  readonly digests: ReadonlyArray<Digest>;
  /** Digests whose last event has not come yet, by its id. */
  readonly #open = new Map<string, Digest[]>();
  #events = 0;
  #sequence = emptySequence;

  /**
   * Reads the digests of a folder, and checks their signatures and that each names the one before.
   * @param keys the accepted public keys
   * @throws LogError if there is no digest
   */
  static async open(folder: DigestFolder, keys: ReadonlyArray<KeyObject>, findings: Findings): Promise<DigestCheck> {
    const digests: Digest[] = [];
    for (const place of await folder.places()) {
      const digest = await folder.read(place);
      if (digest === null) findings.fault(`${nameOf(place)} cannot be read: it was altered`);
      else digests.push(digest);
    }
    if (digests.length === 0) throw new LogError(`${folder.path} holds no digest.`);
    return new DigestCheck(folder, digests, keys, findings);
  }

  private constructor(
    folder: DigestFolder,
    digests: ReadonlyArray<Digest>,
    keys: ReadonlyArray<KeyObject>,
    findings: Findings,
  ) {
    this.#folder = folder;
    this.#findings = findings;
    const trusted = new Map(keys.map((key) => [keyIdOf(key), key]));
    this.digests = digests.filter((digest, index) => this.#isGenuine(digest, digests[index - 1], trusted));
    for (const digest of this.digests)
      this.#open.set(digest.lastEvent, [...(this.#open.get(digest.lastEvent) ?? []), digest]);
  }

  /** @param heads the heads of all streams, with this event @returns a promise only if a digest ends with the event */
  add(event: RawEvent, heads: Heads): Promise<void> | undefined {
    if (!isChained(event.stream)) return undefined;
    this.#events += 1;
    this.#sequence = sequenceAfter(this.#sequence, heads.get(event.stream)?.hash ?? '');
    const ended = this.#open.get(event.id);
    if (ended === undefined) return undefined;
    this.#open.delete(event.id);
    return this.#compareAll(ended, heads);
  }

  /** Must be called at the end of the log. @returns the newest digest that it holds, as a text */
  async finish(heads: Heads): Promise<string> {
    const newestChain = this.digests.at(-1)?.chain ?? 0;
    for (const digest of [...this.#open.values()].flat()) {
      const missing = `the log has not event ${digest.lastEvent}, the last one of ${nameOf(digest)} (${digest.time})`;
      if (digest.chain < newestChain) this.#findings.note(`${missing}: a restore has given it up since`);
      else {
        this.#findings.fault(missing);
        await this.#findShortened(digest, heads);
      }
    }
    const last = this.digests.at(-1);
    return last === undefined ? 'no digest is genuine' : `${this.digests.length} digests, the last of ${last.time}`;
  }

  #isGenuine(digest: Digest, before: Digest | undefined, trusted: ReadonlyMap<string, KeyObject>): boolean {
    const { fault, note } = this.#findings;
    const key = trusted.get(digest.key);
    if (key === undefined || !isSignedBy(digest, key)) {
      fault(`${nameOf(digest)} is not signed by a key that is trusted`);
      return false;
    }
    const { previous } = digest;
    if (before === undefined) {
      if (previous !== null) note(`the digests begin with ${nameOf(digest)}: those before it are not in the folder`);
    } else if (previous?.hash !== digestReference(before).hash)
      fault(`${nameOf(digest)} does not follow ${nameOf(before)}: a digest between them is missing, or was replaced`);
    if (before !== undefined && digest.chain !== before.chain)
      note(`${nameOf(digest)} began a new chain on ${digest.time}: by then the log had been restored, or moved`);
    return true;
  }

  async #compareAll(digests: ReadonlyArray<Digest>, heads: Heads): Promise<void> {
    for (const digest of digests) {
      const differing = await this.#compareHeads(digest, (expected) =>
        differenceOf(expected, heads.get(expected.stream)),
      );
      if (differing > 0) continue;
      if (this.#events !== digest.events || this.#sequence !== digest.sequence)
        this.#findings.fault(
          `the events up to ${nameOf(digest)} are not those that it was made of, or not in their order`,
        );
      else if (this.#isRootDue(digest) && rootOf(heads) !== digest.root)
        this.#findings.fault(
          `the streams do not give the root of ${nameOf(digest)}: some were altered, added or removed`,
        );
    }
  }

  #findShortened(digest: Digest, heads: Heads): Promise<number> {
    return this.#compareHeads(digest, (expected) => {
      const found = heads.get(expected.stream);
      return found !== undefined && found.revision > expected.revision ? null : differenceOf(expected, found);
    });
  }

  /** Compares the streams that changed before the digest. @returns how many differ */
  async #compareHeads(digest: Digest, difference: (expected: StreamHead) => string | null): Promise<number> {
    const file = this.#folder.heads(digest);
    if (file === null) return 0;
    let differing = 0;
    const { fault } = this.#findings;
    const checkHash = (hash: string) => {
      if (hash !== digest.headsHash) fault(`the file of heads of ${nameOf(digest)} was altered`);
    };
    try {
      for await (const expected of readHeads(file, checkHash)) {
        const found = difference(expected);
        if (found === null) continue;
        differing += 1;
        fault(`${expected.stream} ${found}, as ${nameOf(digest)} (${digest.time}) shows`);
      }
    } catch (error) {
      fault(`the file of heads of ${nameOf(digest)} cannot be read: ${error}`);
    }
    return differing;
  }

  /**
   * True for few digests, because comparing every root would cost time for all streams; heads and order are already
   * compared.
   */
  #isRootDue(digest: Digest): boolean {
    return digest.headsOf === 'all' || digest === this.digests.at(-1) || !this.#folder.hasHeads(digest);
  }
}

function differenceOf(expected: StreamHead, found: ChainHead | undefined): string | null {
  if (found === undefined) return 'was removed';
  if (found.revision < expected.revision)
    return `was shortened: it ends with revision ${found.revision}, where it had revision ${expected.revision}`;
  if (found.revision > expected.revision) return 'has events that were not there, or has them in another order';
  return found.hash === expected.hash
    ? null
    : `was altered: revision ${expected.revision} or an earlier one is another`;
}

function rootOf(heads: Heads): string {
  const tree = new MerkleTree();
  for (const stream of sortedStreams(heads)) {
    if (!isChained(stream)) continue;
    const { revision = -1, hash = null } = heads.get(stream) ?? {};
    tree.add(leafOf({ stream, revision, hash: hash ?? '' }));
  }
  return tree.root().toString('hex');
}

function nameOf({ chain, number }: Pick<Digest, 'chain' | 'number'>): string {
  return `digest ${number} of chain ${chain}`;
}
