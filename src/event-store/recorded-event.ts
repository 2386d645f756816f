import type { EventMetadata } from '#domain/shared/event.ts';
import type { RawEvent } from '#event-store/transfer/raw-log.ts';
import { isObject, type JsonObject } from '#shared/json/json.ts';
import type { EventToAppend, RecordedEvent } from './event-store.ts';

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

  get stored(): RawEvent {
    return this.#stored;
  }

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

/** Parses and upcasts immediately, for readers of a stream. @throws UnreadableEventError */
export function recordedEvent(stored: RawEvent, upcast: Upcast): RecordedEvent {
  const { position, stream, revision, id, type } = stored;
  const { data, metadata } = decode(stored, upcast);
  return { position, stream, revision, id, type, data, metadata };
}

/** @throws UnreadableEventError */
export function ensureReadable(event: RecordedEvent): void {
  void event.data;
}

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

/** Texts that are parsed once for all functions that read them. None of these may change them. */
export interface ParsedTexts {
  /** Null for a text that is not a JSON object. */
  readonly data: JsonObject | null;
  /** Null for a text that is not a JSON object. */
  readonly metadata: JsonObject | null;
}

export function parseTexts({ data, metadata }: Pick<EventToAppend, 'data' | 'metadata'>): ParsedTexts {
  return { data: parseObject(data), metadata: parseObject(metadata) };
}

function parseObject(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** A pure function from one schema version to the next. */
// biome-ignore lint/suspicious/noExplicitAny: each step knows the shape that its version had; JSON cannot.
export type UpcastStep = (data: any) => object;

/**
 * The steps of each event type, from schema version n (at index n - 1) to n + 1. A type without steps is at version 1.
 */
export type Upcasters = Readonly<Record<string, ReadonlyArray<UpcastStep>>>;

/** Converts data to the newest shape of the type. @throws UpcastError */
export type Upcast = (type: string, schemaVersion: number, data: JsonObject) => JsonObject;

/** Returns data unchanged, for readers without upcasters. */
export const asStored: Upcast = (_type, _schemaVersion, data) => data;

/** An event has a shape that this code does not know, probably of a newer release. */
export class UpcastError extends Error {
  override readonly name = 'UpcastError';
}

/** The version with which new events of the type are written. */
export function newestVersion(upcasters: Upcasters, type: string): number {
  return stepsOf(upcasters, type).length + 1;
}

/**
 * Makes an `Upcast`. Data in its newest shape is returned unchanged.
 * @param upcasters the steps of every type that ever changed its shape
 * @param isKnown whether this release knows a type; by default every type is known
 */
export function upcastWith(upcasters: Upcasters, isKnown: (type: string) => boolean = () => true): Upcast {
  return (type, schemaVersion, data) => {
    if (!isKnown(type)) throw new UpcastError(`This release does not know the event type ${type}.`);
    const steps = stepsOf(upcasters, type);
    if (schemaVersion === steps.length + 1) return data;
    if (!Number.isInteger(schemaVersion) || schemaVersion < 1 || schemaVersion > steps.length + 1)
      throw new UpcastError(
        `An event of type ${type} has schema version ${schemaVersion}; this release knows 1 to ${steps.length + 1}.`,
      );
    return steps.slice(schemaVersion - 1).reduce<JsonObject>((older, step) => step(older) as JsonObject, data);
  };
}

function stepsOf(upcasters: Upcasters, type: string): ReadonlyArray<UpcastStep> {
  return Object.hasOwn(upcasters, type) ? (upcasters[type] ?? []) : [];
}

/** A stored event that this release cannot read: its text is not JSON, or a newer release wrote it. */
export class UnreadableEventError extends Error {
  override readonly name = 'UnreadableEventError';
  readonly position: number;
  readonly eventId: string;

  /** @param cause why it cannot be read; only an `UpcastError` is quoted, because others may quote the event's data */
  constructor({ position, stream, revision, id, type }: Omit<RawEvent, 'data' | 'metadata'>, cause: unknown) {
    const place = `Event ${id} at position ${position} (${type}, revision ${revision} of ${stream})`;
    super(`${place} cannot be read: ${reasonOf(cause)}`, { cause });
    this.position = position;
    this.eventId = id;
  }
}

function reasonOf(cause: unknown): string {
  if (cause instanceof UpcastError) return cause.message;
  return cause instanceof SyntaxError ? 'it is not JSON.' : 'it does not have the shape that it should have.';
}
