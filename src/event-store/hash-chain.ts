import { hash as digest } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { EventMetadata } from '#domain/event.ts';
import type { EventToAppend } from '#event-store/event-store.ts';

/** An event exactly as it is kept: JSON texts, not upcast. What a chain is verified on. */
export interface StoredEvent extends EventToAppend {
  readonly stream: string;
  readonly revision: number;
}

/** Metadata before it is sealed. */
export type UnsealedMetadata = Omit<EventMetadata, 'prevHash' | 'hash'>;

/** What is to be sealed. `data` is an object of JSON values. */
export interface UnsealedEvent {
  readonly id: string;
  readonly type: string;
  readonly data: object;
}

/** The first event at which a stream's chain does not hold. */
export interface BrokenLink {
  readonly stream: string;
  readonly revision: number;
  readonly id: string;
  readonly reason: 'revision-out-of-order' | 'previous-hash-differs' | 'hash-differs' | 'unreadable';
}

/**
 * Seals an event into its stream's hash chain: `hash` is SHA-256, in hex, over the canonical JSON (RFC 8785) of
 * {stream, revision, id, type, data, metadata without `hash`}. Must be made anew when a conflict moves the revision.
 * @param prevHash the `hash` of the stream's previous event; null for the first
 * @returns the event to append, its data in the caller's own order of members, and its hash
 */
export function seal(
  stream: string,
  revision: number,
  prevHash: string | null,
  event: UnsealedEvent,
  metadata: UnsealedMetadata,
): { readonly event: EventToAppend; readonly hash: string } {
  const { id, type, data } = event;
  const hash = hashOf(stream, revision, id, type, data, { ...metadata, prevHash });
  return {
    event: { id, type, data: JSON.stringify(data), metadata: JSON.stringify({ ...metadata, prevHash, hash }) },
    hash,
  };
}

/**
 * Verifies the chains of the events given: of one stream, or of many in any mixture, each from its revision 0 on.
 * @param events as stored (`readRaw`, `readRawLog`), without streams that have no chain
 * @returns the first broken link; null when every chain holds
 */
export function verifyChain(events: Iterable<StoredEvent>): BrokenLink | null {
  const heads = new Map<string, Head>();
  for (const event of events) {
    const head = heads.get(event.stream) ?? { revision: -1, hash: null };
    const link = checkLink(event, head);
    if (typeof link === 'string') return { stream: event.stream, revision: event.revision, id: event.id, reason: link };
    heads.set(event.stream, link);
  }
  return null;
}

interface Head {
  readonly revision: number;
  readonly hash: string | null;
}

function checkLink(event: StoredEvent, head: Head): Head | BrokenLink['reason'] {
  if (event.revision !== head.revision + 1) return 'revision-out-of-order';
  const data = parseObject(event.data);
  const metadata = parseObject(event.metadata);
  if (data === null || metadata === null) return 'unreadable';
  const { hash, ...hashed } = metadata;
  if (hashed.prevHash !== head.hash) return 'previous-hash-differs';
  const expected = hashOf(event.stream, event.revision, event.id, event.type, data, hashed);
  return hash === expected ? { revision: event.revision, hash: expected } : 'hash-differs';
}

function hashOf(stream: string, revision: number, id: string, type: string, data: object, metadata: object): string {
  // Put together by hand, in sorted order, so that neither part is copied into another object first.
  return digest(
    'sha256',
    `{"data":${canonicalize(data)},"id":${JSON.stringify(id)},"metadata":${canonicalize(metadata)}` +
      `,"revision":${revision},"stream":${JSON.stringify(stream)},"type":${JSON.stringify(type)}}`,
  );
}

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}
