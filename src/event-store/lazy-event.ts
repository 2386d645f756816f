import type { EventMetadata } from '#domain/shared/event.ts';
import type { JsonObject } from '#shared/json/json.ts';
import type { RecordedEvent } from './event-store.ts';
import type { RawEvent } from './transfer/raw-log.ts';
import { UnreadableEventError } from './unreadable-event-error.ts';
import type { Upcast } from './upcasting.ts';

interface Decoded {
  readonly data: JsonObject;
  readonly metadata: EventMetadata;
}

/**
 * An event of a page of the log. The first handler that uses its texts parses and upcasts them. So an unreadable event
 * stops only the handlers of its type.
 */
export class LazyEvent implements RecordedEvent {
  readonly position: number;
  readonly stream: string;
  readonly revision: number;
  readonly id: string;
  readonly type: string;
  readonly #stored: RawEvent;
  readonly #upcast: Upcast;
  #decoded: Decoded | null = null;

  constructor(stored: RawEvent, upcast: Upcast) {
    this.position = stored.position;
    this.stream = stored.stream;
    this.revision = stored.revision;
    this.id = stored.id;
    this.type = stored.type;
    this.#stored = stored;
    this.#upcast = upcast;
  }

  /** As it is stored. */
  get stored(): RawEvent {
    return this.#stored;
  }

  /** The length of its texts. */
  get characters(): number {
    return this.#stored.data.length + this.#stored.metadata.length;
  }

  /** @throws UnreadableEventError */
  get data(): JsonObject {
    return this.#decode().data;
  }

  /** @throws UnreadableEventError */
  get metadata(): EventMetadata {
    return this.#decode().metadata;
  }

  #decode(): Decoded {
    this.#decoded ??= decode(this.#stored, this.#upcast);
    return this.#decoded;
  }
}

/**
 * Parses a stored event at once, for readers of its stream.
 * @throws UnreadableEventError
 */
export function recordedEvent(stored: RawEvent, upcast: Upcast): RecordedEvent {
  const { position, stream, revision, id, type } = stored;
  const { data, metadata } = decode(stored, upcast);
  return { position, stream, revision, id, type, data, metadata };
}

/**
 * Checks that an event of a page can be read.
 * @throws UnreadableEventError
 */
export function ensureReadable(event: RecordedEvent): void {
  void event.data;
}

/** Whether an event of a page can be read. */
export function isReadable(event: RecordedEvent): boolean {
  try {
    ensureReadable(event);
    return true;
  } catch (error) {
    if (error instanceof UnreadableEventError) return false;
    throw error;
  }
}

function decode(stored: RawEvent, upcast: Upcast): Decoded {
  try {
    const metadata = objectOf(stored.metadata) as unknown as EventMetadata;
    return { metadata, data: upcast(stored.type, metadata.schemaVersion, objectOf(stored.data)) };
  } catch (error) {
    throw new UnreadableEventError(stored, error);
  }
}

function objectOf(text: string): JsonObject {
  const value: unknown = JSON.parse(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new TypeError('It is not a JSON object.');
  return value as JsonObject;
}
