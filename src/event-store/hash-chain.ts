import { hash as digest } from 'node:crypto';
import type { EventMetadata } from '#domain/shared/event.ts';
import { isShortenedOnPurpose } from '#domain/stream-kinds.ts';
import { canonicalJson } from '#shared/json/json.ts';
import { type ChainHead, ChainHeads, type ReadonlyChainHeads } from './chain-heads.ts';
import type { EventToAppend, StoredEvent } from './event-store.ts';
import { type ParsedTexts, parseTexts } from './recorded-event.ts';

export type UnsealedMetadata = Omit<EventMetadata, 'prevHash' | 'hash'>;

export interface UnsealedEvent {
  readonly id: string;
  readonly type: string;
  readonly data: object;
}

export type { ChainHead } from './chain-heads.ts';

/** The first event at which a stream's chain is broken. */
export interface BrokenLink {
  readonly stream: string;
  readonly revision: number;
  readonly id: string;
  /** The revision after that of the stream's event before it. */
  readonly expectedRevision: number;
  readonly reason: 'events-missing' | 'revision-out-of-order' | 'previous-hash-differs' | 'hash-differs' | 'unreadable';
}

/**
 * Seals an event into its stream's hash chain: `hash` is SHA-256, in hex, over the canonical JSON (RFC 8785) of
 * {stream, revision, id, type, data, metadata without `hash`}. After a conflict the revision changes, so the event
 * needs a new seal.
 * @param prevHash the `hash` of the stream's previous event; null for the first
 * @param text the data as JSON, if it is already serialized
 * @returns the event to append, its data in the caller's own order of members, and its hash
 */
export function seal(
  stream: string,
  revision: number,
  prevHash: string | null,
  event: UnsealedEvent,
  metadata: UnsealedMetadata,
  text: string = JSON.stringify(event.data),
): { readonly event: EventToAppend; readonly hash: string } {
  const { id, type, data } = event;
  const hash = hashOf(stream, revision, id, type, data, { ...metadata, prevHash });
  return {
    event: { id, type, data: text, metadata: JSON.stringify({ ...metadata, prevHash, hash }) },
    hash,
  };
}

/** True if the stream has a hash chain. Metering events have none, because they are many and may expire. */
export function isChained(stream: string): boolean {
  return !isShortenedOnPurpose(stream);
}

/**
 * Verifies the chain of one stream, or of many in any mixture, each from its revision 0 on.
 * @param events as stored (`readRaw`, `readRawLog`)
 * @returns the first broken link; null when every chain holds
 */
export function verifyChain(events: Iterable<StoredEvent>): BrokenLink | null {
  const verifier = new ChainVerifier();
  for (const event of events) {
    const broken = verifier.verify(event);
    if (broken !== null) return broken;
  }
  return null;
}

/** The head before the first of the stream's events that is verified. */
type HeadBefore = (event: StoredEvent, texts: ParsedTexts) => ChainHead;

/** Verifies chains and keeps only the last revision and hash of each stream. */
export class ChainVerifier {
  readonly #heads = new ChainHeads();
  readonly #headBefore: HeadBefore;

  /** @param headBefore by default a stream has no head before its first event */
  constructor(headBefore: HeadBefore = () => noHead) {
    this.#headBefore = headBefore;
  }

  get streams(): number {
    return this.#heads.size;
  }

  /** The streams so far, each with its last event. */
  get heads(): ReadonlyChainHeads {
    return this.#heads;
  }

  /**
   * @returns where its stream's chain is broken; null if the chain is intact so far, or if the stream has none. After a
   * broken link, the next event is compared with the hash that the faulty event states.
   */
  verify(event: StoredEvent, texts: ParsedTexts = parseTexts(event)): BrokenLink | null {
    const { stream, revision, id } = event;
    const head = this.#heads.get(stream) ?? this.#headBefore(event, texts);
    const link = isChained(stream) ? checkLink(event, texts, head) : { head: { revision, hash: null }, broken: null };
    this.#heads.set(stream, link.head);
    if (link.broken === null) return null;
    return { stream, revision, id, expectedRevision: head.revision + 1, reason: link.broken };
  }
}

/** The head that the event itself names. The caller compares it. */
export function statedHeadBefore({ revision }: StoredEvent, { metadata }: ParsedTexts): ChainHead {
  const stated = metadata?.prevHash;
  return { revision: revision - 1, hash: typeof stated === 'string' ? stated : null };
}

const noHead: ChainHead = { revision: -1, hash: null };

interface Link {
  readonly head: ChainHead;
  readonly broken: BrokenLink['reason'] | null;
}

function checkLink(event: StoredEvent, texts: ParsedTexts, before: ChainHead): Link {
  const stated = texts.metadata?.hash;
  const head = { revision: event.revision, hash: typeof stated === 'string' ? stated : null };
  return { head, broken: faultOf(event, texts, before) };
}

function faultOf(event: StoredEvent, { data, metadata }: ParsedTexts, before: ChainHead): Link['broken'] {
  if (event.revision > before.revision + 1) return 'events-missing';
  if (event.revision <= before.revision) return 'revision-out-of-order';
  if (data === null || metadata === null) return 'unreadable';
  const { hash, ...hashed } = metadata;
  if (hashed.prevHash !== before.hash) return 'previous-hash-differs';
  const expected = hashOfStored(event, data, hashed);
  if (expected === null) return 'unreadable';
  return hash === expected ? null : 'hash-differs';
}

/**
 * The hash; null for data that RFC 8785 cannot represent (a lone surrogate, an infinite number), which was never
 * sealed.
 */
function hashOfStored(event: StoredEvent, data: object, hashed: object): string | null {
  try {
    return hashOf(event.stream, event.revision, event.id, event.type, data, hashed);
  } catch {
    return null;
  }
}

function hashOf(stream: string, revision: number, id: string, type: string, data: object, metadata: object): string {
  // Built by hand, in sorted order, so that neither part is copied into another object first.
  return digest(
    'sha256',
    `{"data":${canonicalJson(data)},"id":${JSON.stringify(id)},"metadata":${canonicalJson(metadata)}` +
      `,"revision":${revision},"stream":${JSON.stringify(stream)},"type":${JSON.stringify(type)}}`,
  );
}
