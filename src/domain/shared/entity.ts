import type { EventMetadata } from './event.ts';
import type { FailureCode } from './failure.ts';

export interface Recorded<Type extends string, Data> {
  readonly type: Type;
  readonly data: Data;
  readonly stream: string;
  readonly revision: number;
  readonly metadata: EventMetadata;
}

/** An event before it is recorded. */
export type EventOf<Events> = {
  [Type in keyof Events & string]: { readonly type: Type; readonly data: Events[Type] };
}[keyof Events & string];

export type RecordedEventOf<Events> = {
  [Type in keyof Events & string]: Recorded<Type, Events[Type]>;
}[keyof Events & string];

/**
 * The resources of one stream. A state holds the data for decisions (ids, flags, numbers). In place of a client's
 * texts, schemas and payloads it holds the revision of the event that has them; answers read them there. States are
 * immutable: `evolve` returns a new one, at a cost that does not grow with the stream. Large collections are persistent
 * maps and are never copied.
 */
export interface Entity<State, Events> {
  /** The stream is `{category}-{key}`. */
  readonly category: string;
  readonly initial: State;
  readonly evolve: (state: State, event: RecordedEventOf<Events>) => State;
  /** The part of the id that names the stream. */
  readonly streamKey: (id: string) => string;
  /** True also for a resource that is deleted. */
  readonly everExisted: (state: State, id: string) => boolean;
  readonly isLive: (state: State, id: string) => boolean;
  /** The revision for the resource's ETag, if it differs from the stream's. */
  readonly revisionOf?: (state: State, id: string) => number;
  /**
   * Raise it with any change of the state's shape or of `evolve`, so that older snapshots are no longer used. Only for
   * states without texts, personal data and secrets, which are JSON except for persistent maps as direct members.
   * Without it, such streams get no snapshots.
   */
  readonly stateVersion?: number;
  /** A cheap estimate, for states that may have more than a few hundred bytes. */
  readonly estimateBytes?: (state: State) => number;
  readonly notFound: FailureCode;
}

export function streamName(entity: Pick<Entity<unknown, never>, 'category' | 'streamKey'>, id: string): string {
  return `${entity.category}-${entity.streamKey(id)}`;
}

/** For most entities, the resource's id. */
export function streamKeyOf(stream: string): string {
  return stream.slice(stream.indexOf('-') + 1);
}

/** The length of the suffix of ids that begin with another id, so that the id alone gives the stream. */
export const suffixLength = 8;

export function childId(id: string, suffix: string): string {
  if (suffix.length !== suffixLength) throw new Error(`a suffix of an id has ${suffixLength} characters`);
  return id + suffix;
}

/** The id with which a suffixed id begins. */
export function parentId(id: string): string {
  return id.slice(0, -suffixLength);
}
