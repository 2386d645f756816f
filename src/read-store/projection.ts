import type { RecordedEvent } from '#event-store/event-store.ts';
import type { DocumentValue, Where } from '#read-store/read-store.ts';

/** Any event of a map from event type to its data, as recorded. */
export type RecordedOf<Events> = {
  [Type in keyof Events & string]: RecordedEvent<Type, Events[Type]>;
}[keyof Events & string];

/**
 * One read model: pure functions from events to documents. The runner does the rest.
 *
 * An event of a type in `on` touches the documents that `keys` names; each goes through its handler, which gives the
 * new document, or null to have none. An event of a type in `removeWhere` deletes all that fit an index, unread.
 */
export interface Projection<Value extends DocumentValue, Events> {
  readonly name: string;
  /** Bump it when documents must be made anew: they are rebuilt beside the old ones, then swapped in. */
  readonly version: number;
  readonly keys: (event: RecordedOf<Events>) => ReadonlyArray<string>;
  readonly on: {
    readonly [Type in keyof Events & string]?: (
      document: Value | null,
      event: RecordedEvent<Type, Events[Type]>,
      key: string,
    ) => Value | null;
  };
  readonly removeWhere?: {
    readonly [Type in keyof Events & string]?: (event: RecordedEvent<Type, Events[Type]>) => Where;
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
export function typesOf(definition: AnyProjection): ReadonlyArray<string> {
  return [...new Set([...Object.keys(definition.on), ...Object.keys(definition.removeWhere ?? {})])];
}
