import { randomUUID } from 'node:crypto';
import type { StoredEvent } from '#event-store/event-store.ts';
import { seal } from '#event-store/hash-chain.ts';
import { someMetadata } from '#test/contract/event-store.ts';

const { prevHash: _prevHash, hash: _hash, ...metadata } = someMetadata;

/** A log of sealed streams that a test continues. */
export class SealedLog {
  readonly #heads = new Map<string, { readonly revision: number; readonly hash: string }>();

  /** Makes the next event of each stream named, in this order. */
  next(...streams: ReadonlyArray<string>): StoredEvent[] {
    return streams.map((stream) => {
      const head = this.#heads.get(stream);
      const revision = (head?.revision ?? -1) + 1;
      const made = sealed(stream, revision, head?.hash ?? null, { number: revision });
      this.#heads.set(stream, { revision, hash: made.hash });
      return made.event;
    });
  }
}

/** Returns a whole sealed stream with contents that `SealedLog` never makes. */
export function forgedStream(events: ReadonlyArray<StoredEvent>): StoredEvent[] {
  let prevHash: string | null = null;
  return events.map(({ stream, revision, id }) => {
    const { event, hash } = sealed(stream, revision, prevHash, { number: revision, forged: true }, id);
    prevHash = hash;
    return event;
  });
}

function sealed(stream: string, revision: number, prevHash: string | null, data: object, id: string = randomUUID()) {
  const { event, hash } = seal(stream, revision, prevHash, { id, type: 'Done', data }, metadata);
  return { event: { ...event, stream, revision }, hash };
}
