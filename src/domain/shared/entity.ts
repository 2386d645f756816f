import type { EventMetadata } from './event.ts';
import type { FailureCode } from './failure.ts';

/** A recorded event as the domain sees it: what happened, where in its stream, and its metadata. */
export interface Recorded<Type extends string, Data> {
  readonly type: Type;
  readonly data: Data;
  readonly stream: string;
  readonly revision: number;
  readonly metadata: EventMetadata;
}

/** Any event of a map from event type to data, before it is recorded. */
export type EventOf<Events> = {
  [Type in keyof Events & string]: { readonly type: Type; readonly data: Events[Type] };
}[keyof Events & string];

/** Any event of such a map, as recorded. */
export type RecordedEventOf<Events> = {
  [Type in keyof Events & string]: Recorded<Type, Events[Type]>;
}[keyof Events & string];

/**
 * What lives in one stream. State holds what decisions need (ids, flags, numbers); of a client's texts, schemas and
 * payloads only the revision of the event that has them, where answers read them. States are values: evolve gives a new
 * one, at a cost that does not grow with the stream. What there may be many of is in a persistent map, never copied.
 */
export interface Entity<State, Events> {
  /** The stream is `{category}-{key}`. */
  readonly category: string;
  readonly initial: State;
  readonly evolve: (state: State, event: RecordedEventOf<Events>) => State;
  /** The part of a resource's id that names its stream. */
  readonly streamKey: (id: string) => string;
  /** Whether this id was ever given out in this stream, deleted or not. */
  readonly everExisted: (state: State, id: string) => boolean;
  /** Whether the resource with this id is there now. */
  readonly isLive: (state: State, id: string) => boolean;
  /** The revision for a resource's ETag where it is not the stream's. */
  readonly revisionOf?: (state: State, id: string) => number;
  /**
   * The version of what states look like and of how events are folded into them: raise it with any change of either, and
   * snapshots made before are not used any more. Only for states that hold no texts, no personal data and no secrets,
   * and are JSON but for persistent maps in their own members; absent, no snapshot is taken of such a stream.
   */
  readonly stateVersion?: number;
  /** Bytes that a state holds, roughly and at no cost; for states that may hold more than a few hundred. */
  readonly weigh?: (state: State) => number;
  readonly notFound: FailureCode;
}

/** The stream in which an entity keeps the resource with this id. */
export function streamName(entity: Pick<Entity<unknown, never>, 'category' | 'streamKey'>, id: string): string {
  return `${entity.category}-${entity.streamKey(id)}`;
}

/** What names a stream within its category: the id of what lives there, for most. */
export function streamKeyOf(stream: string): string {
  return stream.slice(stream.indexOf('-') + 1);
}

/** Ids made of another id and 8 more characters, so that the stream is found from the id alone. */
export const suffixLength = 8;

/** An id made of another and a suffix. */
export function childId(id: string, suffix: string): string {
  if (suffix.length !== suffixLength) throw new Error(`a suffix of an id has ${suffixLength} characters`);
  return id + suffix;
}

/** The id that a suffixed id begins with. */
export function parentId(id: string): string {
  return id.slice(0, -suffixLength);
}
