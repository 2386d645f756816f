import type { Entity } from '#domain/shared/entity.ts';
import type { PersonalText } from '#domain/shared/personal-data.ts';
import type { DataAt } from '#domain/shared/text-reference.ts';
import type { Json } from '#shared/json/json.ts';
import type { ResourceName } from './record.ts';

/** How histories and the audit describe one type of event. */
export interface ListedEvent<State, Data> {
  /**
   * The resource of the event.
   * @param key the key of the event's stream
   */
  readonly resource: (data: Data, key: string) => ResourceName;
  /** A further resource that the event changes, whose history lists it too. */
  readonly other?: (data: Data) => ResourceName | null;
  /**
   * One sentence, without personal data.
   * @param state after the event
   */
  readonly summary: (data: Data, state: State) => string;
}

/** Marks an event type that no history, audit, feed or webhook lists. */
export const unlisted = Symbol('unlisted');

/** Reads data that a state does not hold. */
export interface RecordReader {
  /** The data of an event of the stream. */
  readonly dataAt: DataAt;
  /** Decrypts a personal text; an erased one reads `erased`. */
  readonly open: (subject: string, field: string, text: PersonalText) => string;
}

/**
 * Describes an entity's events for readers. It must list every event type of the entity; a missing one is a type error.
 */
export interface EntityHistory<State, Events> {
  readonly entity: Entity<State, Events>;
  readonly events: {
    readonly [Type in keyof Events & string]: ListedEvent<State, Events[Type]> | typeof unlisted;
  };
  /** The record of a resource of the stream; null if it does not exist in this state. */
  readonly record: (state: State, resource: ResourceName, reader: RecordReader) => Promise<Json>;
  /** The subject whose personal texts a state holds. */
  readonly personalSubject?: (state: State) => string | null;
}

// biome-ignore lint/suspicious/noExplicitAny: a table holds entities of every state; each stays typed where it is made.
export type AnyEntityHistory = EntityHistory<any, any>;

/** Declares the history of an entity. */
export function entityHistory<State, Events>(history: EntityHistory<State, Events>): EntityHistory<State, Events> {
  return history;
}

/** Shortens a client's text for a sentence. */
export function quote(text: string): string {
  const characters = [...text.slice(0, 2 * maxQuoted + 2)];
  return characters.length > maxQuoted ? `“${characters.slice(0, maxQuoted).join('')}…”` : `“${text}”`;
}

const maxQuoted = 80;
