import type { Digest, StreamHead } from '#domain/history/digest.ts';
import { ChainHeads } from '#event-store/chain-heads.ts';
import { type ChainHead, ChainVerifier, isChained, statedHeadBefore } from '#event-store/hash-chain.ts';
import { describeBroken } from '#event-store/transfer/log-failure.ts';
import { pagesOf, type RawEvent, type RawLog } from '#event-store/transfer/raw-log.ts';
import { clock } from '#shared/clock.ts';
import { DigestRefusedError, emptySequence, sequenceAfter, sortedStreams } from './digest.ts';

export interface ChangedHead extends StreamHead {
  /** The head that its first new event names as the one before. */
  readonly follows: ChainHead;
}

/** What a part of a log adds to the digest before it. */
export interface NewHeads extends Pick<Digest, 'events' | 'lastEvent' | 'position' | 'positionBefore' | 'sequence'> {
  /**
   * The changed heads in the order of files of heads. They are made on demand, because all together may not fit in
   * memory.
   */
  readonly changed: Iterable<ChangedHead> & { readonly length: number };
}

type ReadPart = Omit<NewHeads, 'changed'>;

/** Maximum characters of events that are verified in one turn; the last event of a turn may exceed it. */
const charactersPerTurn = 256 * 1024;

/**
 * Reads a log from a digest on, and verifies every event.
 * @param since null to begin at the beginning
 * @param until the position of the last event, if the log has that many; default: the end of the log
 * @throws DigestRefusedError if a chain is broken, or if the digest was made of another log; UnavailableError; the
 *   signal's reason
 */
export async function readNewHeads(
  log: RawLog,
  since: Digest | null,
  signal: AbortSignal,
  until?: number,
): Promise<NewHeads> {
  const end = Math.min(until ?? Number.POSITIVE_INFINITY, await log.lastPosition());
  if (since !== null) await ensureSameLog(log, since);
  const collector = new HeadCollector(since);
  for await (const page of pagesOf(log, end, since?.position)) {
    signal.throwIfAborted();
    await verify(page, collector);
    await clock.nextTurn();
  }
  return collector.result();
}

/** Verifies a page in turns: one event has up to a megabyte, and a page several. */
async function verify(page: ReadonlyArray<RawEvent>, collector: HeadCollector): Promise<void> {
  let left = charactersPerTurn;
  for (const event of page) {
    if (left <= 0) {
      await clock.nextTurn();
      left = charactersPerTurn;
    }
    collector.add(event);
    left -= event.data.length + event.metadata.length;
  }
}

/** Refuses a log of which the digest was not made: a restored log may end earlier, or have other events. */
async function ensureSameLog(log: RawLog, digest: Digest): Promise<void> {
  const { chain, number, position, positionBefore, lastEvent } = digest;
  const [found] = (await log.lastPosition()) < position ? [] : await log.readRawLog(positionBefore, 1);
  if (found?.id === lastEvent && found.position === position) return;
  throw new DigestRefusedError(
    `The log has no event ${lastEvent} at position ${position}, which digest ${number} of chain ${chain} names as its ` +
      'last one: the log was altered, moved to another store, or restored from a backup. Run events verify --digests; ' +
      'after a restore or a move, run events digest --after-restore.',
  );
}

const emptyHeads: ReadPart = {
  events: 0,
  lastEvent: '',
  position: 0,
  positionBefore: 0,
  sequence: emptySequence,
};

class HeadCollector {
  readonly #follows = new ChainHeads();
  readonly #chains = new ChainVerifier((event, texts) => {
    const before = statedHeadBefore(event, texts);
    this.#follows.set(event.stream, before);
    return before;
  });
  #result: ReadPart;
  /** The position of the last event that was read, of any stream. */
  #position: number;

  constructor(since: Digest | null) {
    this.#result = since ?? emptyHeads;
    this.#position = since?.position ?? 0;
  }

  add(event: RawEvent): void {
    const positionBefore = this.#position;
    this.#position = event.position;
    if (!isChained(event.stream)) return;
    const broken = this.#chains.verify(event);
    if (broken !== null) throw new DigestRefusedError(`No digest is made of a broken log: ${describeBroken(broken)}.`);
    const hash = this.#chains.heads.get(event.stream)?.hash ?? '';
    this.#result = {
      events: this.#result.events + 1,
      lastEvent: event.id,
      position: event.position,
      positionBefore,
      sequence: sequenceAfter(this.#result.sequence, hash),
    };
  }

  result(): NewHeads {
    const { events, lastEvent, position, positionBefore, sequence } = this.#result;
    const part = { events, lastEvent, position, positionBefore, sequence };
    return { ...part, changed: { length: this.#chains.streams, [Symbol.iterator]: () => this.#changed() } };
  }

  *#changed(): Generator<ChangedHead, void, void> {
    const { heads } = this.#chains;
    for (const stream of sortedStreams(heads)) {
      const { revision = -1, hash = null } = heads.get(stream) ?? {};
      yield { stream, revision, hash: hash ?? '', follows: this.#follows.get(stream) ?? noHead };
    }
  }
}

const noHead: ChainHead = { revision: -1, hash: null };
