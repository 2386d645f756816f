import type { RecordedEvent } from '#event-store/event-store.ts';
import type { DocumentValue, Where } from '#read-store/read-store.ts';

export type ProjectedEventOf<Events> = {
  [Type in keyof Events & string]: RecordedEvent<Type, Events[Type]>;
}[keyof Events & string];

/** Marks an event type that changes no document of the projection. */
export const ignored = Symbol('ignored');

/**
 * Returns the new document; null removes it.
 * @param documentBefore returns another document that `keys` names for the event, from before the event. If an
 * interrupted commit is being completed, that document may include the event already, which it must show itself
 */
type Handler<Value, Event> = (
  document: Value | null,
  event: Event,
  key: string,
  documentBefore: (key: string) => Value | null,
) => Value | null;

/**
 * Deletes all documents that match an index, without reading them. Then `handle` gets the documents that `keys` names,
 * if any.
 */
interface Removal<Value, Event> {
  readonly removeWhere: (event: Event) => Where;
  readonly handle?: Handler<Value, Event>;
}

/**
 * Creates each document that `keys` names. The event is the first one that touches them, so they need not be read, and
 * only the event decides their contents.
 */
interface Creation<Value, Event> {
  readonly create: (event: Event, key: string) => Value;
}

/** The fields that can be indexed: members of documents and, for other names, those of their `record`. */
export type IndexableField<Value> =
  | (keyof Value & string)
  | (Value extends { readonly record: infer Record } ? keyof NonNullable<Record> & string : never);

/**
 * One read model: pure functions from events to documents. The runner does the rest.
 *
 * `Events` are all events of its source streams, and `on` has an entry for each type, so that a forgotten one is a
 * type error. An event with a handler touches the documents that `keys` names.
 */
export interface Projection<Value extends DocumentValue, Events> {
  readonly name: string;
  /** Increase it when existing documents must change. They are rebuilt next to the old ones, and then swapped in. */
  readonly version: number;
  /**
   * Returns the ids of the documents that an event touches. If there are several, a store without transactions may show
   * some of them before and some of them after the event: see `disclaim` and `isWrittenFirst`, and ADR 82.
   */
  readonly keys: (event: ProjectedEventOf<Events>) => ReadonlyArray<string>;
  readonly on: {
    readonly [Type in keyof Events & string]:
      | typeof ignored
      | Handler<Value, RecordedEvent<Type, Events[Type]>>
      | Creation<Value, RecordedEvent<Type, Events[Type]>>
      | Removal<Value, RecordedEvent<Type, Events[Type]>>;
  };
  /**
   * The fields of indexes, for lists by equality on them: the document's own or its record's. Each ends with the
   * document's order.
   */
  readonly indexes: ReadonlyArray<ReadonlyArray<IndexableField<Value>>>;
  /**
   * Returns the document without some of its claims (`ClaimingDocument`), which a newer document of the same answer has
   * taken over. Null leaves it out: events that are not stored yet have removed it. Readers apply it to every list.
   */
  disclaim?(document: Value, lost: ReadonlySet<string>): Value | null;
  /**
   * True for a document that is stored before the others of its batch: the one that has taken over what another has
   * lost, so that readers never find that none has it; or a sum before the document from which a replay computes it
   * again.
   */
  isWrittenFirst?(document: Value): boolean;
  /**
   * The revision of its documents is the ETag of other read models' documents. A store without transactions stores its
   * documents after those of the others, so that an ETag is never newer than a document that has it.
   */
  readonly holdsETags?: true;
}

// biome-ignore lint/suspicious/noExplicitAny: the runner holds projections of every event map; handlers stay typed.
export type AnyProjection = Projection<any, any>;

/** `Events` maps event types to their data. */
export function projection<Value extends DocumentValue, Events>(
  definition: Projection<Value, Events>,
): Projection<Value, Events> {
  return definition;
}

/** Handles several types alike, for a read model to which they are. */
export function handledAlike<Events extends object, Handling>(
  events: Events,
  handling: Handling,
): { readonly [Type in keyof Events]: Handling } {
  return Object.fromEntries(Object.keys(events).map((type) => [type, handling])) as {
    [Type in keyof Events]: Handling;
  };
}

export function eventTypesOf({ on }: AnyProjection): ReadonlyArray<string> {
  return Object.keys(on).filter((type) => on[type] !== ignored);
}

/** @throws what the projection's `keys` throws; Error for a key that is not a text */
export function keysOf(projection: AnyProjection, event: RecordedEvent): ReadonlyArray<string> {
  const keys = projection.keys(event);
  for (const key of keys) if (typeof key !== 'string') throw new Error(`A document's id is ${typeof key}, no text.`);
  return keys;
}

export interface EventHandling {
  /** Makes the new document; undefined if documents are only removed. */
  readonly handle: Handler<DocumentValue, RecordedEvent> | undefined;
  /** Selects the removed documents; undefined if the event removes nothing by an index. */
  readonly removeWhere: ((event: RecordedEvent) => Where) | undefined;
  /** True if `handle` creates documents that no earlier event touches, and ignores the document that it gets. */
  readonly creates: boolean;
}

const noReaction: EventHandling = { handle: undefined, removeWhere: undefined, creates: false };

/** The reaction to each event type that the projection does not ignore. */
export function reactionsOf(projection: AnyProjection): ReadonlyMap<string, EventHandling> {
  const reactions = new Map<string, EventHandling>();
  for (const [type, declared] of Object.entries(projection.on))
    if (declared !== ignored) reactions.set(type, reactionOf(declared));
  return reactions;
}

function reactionOf(declared: Exclude<AnyProjection['on'][string], typeof ignored | undefined>): EventHandling {
  if (typeof declared === 'function') return { ...noReaction, handle: declared };
  if ('removeWhere' in declared) return { ...noReaction, handle: declared.handle, removeWhere: declared.removeWhere };
  const { create } = declared;
  return { ...noReaction, handle: (_, event, key) => create(event, key), creates: true };
}
