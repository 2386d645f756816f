import type { RecordedEvent } from '#event-store/event-store.ts';
import type { DocumentValue, Where } from '#read-store/read-store.ts';

/** Any event of a map from event type to its data, as recorded. */
export type RecordedEventOf<Events> = {
  [Type in keyof Events & string]: RecordedEvent<Type, Events[Type]>;
}[keyof Events & string];

/** What a projection does with an event type of its streams that changes none of its documents. */
export const ignored = Symbol('ignored');

/** Gives a document after an event, or null to have none. */
type Handler<Value, Event> = (document: Value | null, event: Event, key: string) => Value | null;

/** Deletes all documents that fit an index, unread; then the documents that `keys` names go through `handle`, if any. */
interface Removal<Value, Event> {
  readonly removeWhere: (event: Event) => Where;
  readonly handle?: Handler<Value, Event>;
}

/**
 * One read model: pure functions from events to documents. The runner does the rest.
 *
 * `Events` are all events of the streams that it is made from, and `on` says of each type what becomes of it, so that a
 * forgotten one is a type error. An event with a handler touches the documents that `keys` names.
 */
export interface Projection<Value extends DocumentValue, Events> {
  readonly name: string;
  /** Bump it when documents must be made anew: they are rebuilt beside the old ones, then swapped in. */
  readonly version: number;
  readonly keys: (event: RecordedEventOf<Events>) => ReadonlyArray<string>;
  readonly on: {
    readonly [Type in keyof Events & string]:
      | typeof ignored
      | Handler<Value, RecordedEvent<Type, Events[Type]>>
      | Removal<Value, RecordedEvent<Type, Events[Type]>>;
  };
  /** Lists by equality on these fields; each ends with the document's order. */
  readonly indexes: ReadonlyArray<ReadonlyArray<keyof Value & string>>;
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

/** The handler of an event type; undefined where documents are only removed, or nothing is done. */
export function handlerOf({ on }: AnyProjection, type: string): Handler<DocumentValue, RecordedEvent> | undefined {
  const reaction = reactionTo(on, type);
  return typeof reaction === 'object' ? reaction.handle : reaction;
}

/** What an event type removes by an index; undefined where it removes nothing so. */
export function removalOf({ on }: AnyProjection, type: string): ((event: RecordedEvent) => Where) | undefined {
  const reaction = reactionTo(on, type);
  return typeof reaction === 'object' ? reaction.removeWhere : undefined;
}

function reactionTo(on: AnyProjection['on'], type: string) {
  const reaction = Object.hasOwn(on, type) ? on[type] : ignored;
  return reaction === ignored ? undefined : reaction;
}
