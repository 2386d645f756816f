import type { RecordedEvent } from '#event-store/event-store.ts';
import type { DocumentValue, Where } from '#read-store/read-store.ts';

/** Any event of a map from event type to its data, as recorded. */
export type RecordedEventOf<Events> = {
  [Type in keyof Events & string]: RecordedEvent<Type, Events[Type]>;
}[keyof Events & string];

/** What a projection does with an event type of its streams that changes none of its documents. */
export const ignored = Symbol('ignored');

/**
 * Gives a document after an event, or null to have none.
 * @param documentBefore gives another document that `keys` names for the event, as it was before the event. Where a
 *   commit that was cut short is being completed, that one may be as after it already: it must say so itself
 */
type Handler<Value, Event> = (
  document: Value | null,
  event: Event,
  key: string,
  documentBefore: (key: string) => Value | null,
) => Value | null;

/**
 * Deletes all documents that fit an index, unread; then the documents that `keys` names go through `handle`, if any.
 */
interface Removal<Value, Event> {
  readonly removeWhere: (event: Event) => Where;
  readonly handle?: Handler<Value, Event>;
}

/**
 * Makes each document that `keys` names. The event is the first of the log that touches them, so that they need not be
 * read: nothing but the event decides what they hold.
 */
interface Creation<Value, Event> {
  readonly create: (event: Event, key: string) => Value;
}

/** What an index may hold of documents: their members and, by names that they do not have, those of their `record`. */
export type IndexableField<Value> =
  | (keyof Value & string)
  | (Value extends { readonly record: infer Record } ? keyof NonNullable<Record> & string : never);

/**
 * One read model: pure functions from events to documents. The runner does the rest.
 *
 * `Events` are all events of its source streams, and `on` has an entry for each type, so that a forgotten one is a type
 * error. An event with a handler touches the documents that `keys` names.
 */
export interface Projection<Value extends DocumentValue, Events> {
  readonly name: string;
  /** Raise it when existing documents must change: they are rebuilt beside the old ones, then swapped in. */
  readonly version: number;
  readonly keys: (event: RecordedEventOf<Events>) => ReadonlyArray<string>;
  readonly on: {
    readonly [Type in keyof Events & string]:
      | typeof ignored
      | Handler<Value, RecordedEvent<Type, Events[Type]>>
      | Creation<Value, RecordedEvent<Type, Events[Type]>>
      | Removal<Value, RecordedEvent<Type, Events[Type]>>;
  };
  /** Lists by equality on these fields, its own or its record's; each ends with the document's order. */
  readonly indexes: ReadonlyArray<ReadonlyArray<IndexableField<Value>>>;
}

// biome-ignore lint/suspicious/noExplicitAny: the runner holds projections of every event map; handlers stay typed.
export type AnyProjection = Projection<any, any>;

/** Declares a projection. `Events` maps event types to their data. */
export function projection<Value extends DocumentValue, Events>(
  definition: Projection<Value, Events>,
): Projection<Value, Events> {
  return definition;
}

/** The event types that a projection handles. */
export function eventTypesOf({ on }: AnyProjection): ReadonlyArray<string> {
  return Object.keys(on).filter((type) => on[type] !== ignored);
}

/** The documents that an event touches. @throws what the projection's `keys` throws; Error for a key that is no text */
export function keysOf(projection: AnyProjection, event: RecordedEvent): ReadonlyArray<string> {
  const keys = projection.keys(event);
  for (const key of keys) if (typeof key !== 'string') throw new Error(`A document's id is ${typeof key}, no text.`);
  return keys;
}

/** What a projection does with an event type that it does not ignore. */
export interface Reaction {
  /** Undefined where documents are only removed. */
  readonly handle: Handler<DocumentValue, RecordedEvent> | undefined;
  /** What the event removes by an index; undefined where it removes nothing so. */
  readonly removeWhere: ((event: RecordedEvent) => Where) | undefined;
  /** `handle` makes documents that no earlier event touches, and does not look at what it is given as a document. */
  readonly creates: boolean;
}

const noReaction: Reaction = { handle: undefined, removeWhere: undefined, creates: false };

/** What a projection does with each event type that it does not ignore. */
export function reactionsOf(projection: AnyProjection): ReadonlyMap<string, Reaction> {
  const reactions = new Map<string, Reaction>();
  for (const [type, declared] of Object.entries(projection.on))
    if (declared !== ignored) reactions.set(type, reactionOf(declared));
  return reactions;
}

/** Whether no document is touched by two events: each is whole when it is first written. */
export function isWriteOnce(projection: AnyProjection): boolean {
  return [...reactionsOf(projection).values()].every(({ creates }) => creates);
}

function reactionOf(declared: Exclude<AnyProjection['on'][string], typeof ignored | undefined>): Reaction {
  if (typeof declared === 'function') return { ...noReaction, handle: declared };
  if ('removeWhere' in declared) return { ...noReaction, handle: declared.handle, removeWhere: declared.removeWhere };
  const { create } = declared;
  return { ...noReaction, handle: (_, event, key) => create(event, key), creates: true };
}
