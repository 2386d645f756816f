import type { RecordedEvent } from '#event-store/event-store.ts';
import { type AnyProjection, keysOf, type Reaction, reactionsOf } from '#projection-engine/projection.ts';
import type { DocumentWrite } from '#read-store/read-store.ts';
import { documentText, maxHeapBytes } from './buffered-document.ts';
import type { DocumentBuffer, DocumentBufferLimits } from './document-buffer.ts';

/**
 * The documents of a projection whose documents are complete at their first write (`isWriteOnce`). None of them is
 * read, and none is kept after its commit.
 */
export class WriteOnceBuffer implements Pick<DocumentBuffer, keyof DocumentBuffer> {
  readonly #projection: AnyProjection;
  readonly #reactions: ReadonlyMap<string, Reaction>;
  #limits: DocumentBufferLimits;
  #writes: DocumentWrite[] = [];
  #bytes = 0;

  constructor(projection: AnyProjection, limits: DocumentBufferLimits) {
    this.#projection = projection;
    this.#reactions = reactionsOf(projection);
    this.#limits = limits;
  }

  limit(limits: DocumentBufferLimits): void {
    this.#limits = limits;
  }

  /** Whether to commit: after each run of events with documents, because a later commit would not store fewer. */
  get due(): boolean {
    return this.#writes.length > 0;
  }

  get full(): boolean {
    return this.#bytes > 2 * this.#limits.maxBytes;
  }

  keys(event: RecordedEvent): ReadonlyArray<string> {
    return keysOf(this.#projection, event);
  }

  creates(): boolean {
    return true;
  }

  knows(): boolean {
    return true;
  }

  remember(): void {}

  apply(event: RecordedEvent, keys: ReadonlyArray<string>): void {
    const handle = this.#reactions.get(event.type)?.handle;
    const { position } = event;
    const writes: DocumentWrite[] = [];
    for (const id of keys.length > 1 ? new Set(keys) : keys) {
      const value = handle?.(null, event, id, () => null) ?? null;
      if (value === null) continue;
      writes.push({ kind: 'put', id, order: position, value, body: documentText(id, value), position });
    }
    for (const write of writes) this.#add(write);
  }

  writes(): ReadonlyArray<DocumentWrite> {
    return this.#writes;
  }

  committed(): void {
    this.forget();
  }

  forget(): void {
    this.#writes = [];
    this.#bytes = 0;
  }

  #add(write: DocumentWrite): void {
    this.#writes.push(write);
    if (write.kind === 'put') this.#bytes += maxHeapBytes(write.body.length);
  }
}
