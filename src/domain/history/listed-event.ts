import type { Entity } from '#domain/shared/entity.ts';
import type { PersonalText } from '#domain/shared/personal-data.ts';
import type { DataAt } from '#domain/shared/text-reference.ts';
import type { Json } from '#shared/json/json.ts';
import type { ResourceName } from './record.ts';

/** How histories and the audit list an event. */
export interface ListedEvent<State, Data> {
  /** @param key of the event's stream */
  readonly resource: (data: Data, key: string) => ResourceName;
  /** Another resource that the event changes, whose history lists the event too. */
  readonly other?: (data: Data) => ResourceName | null;
  /** One sentence, without personal data. @param state after the event */
  readonly summary: (data: Data, state: State) => string;
}

/** Marks a type of event that no history, audit, feed or webhook lists. */
export const unlisted = Symbol('unlisted');

/** Reads data that a state does not hold. */
export interface RecordReader {
  readonly dataAt: DataAt;
  /** Decrypts a text. An erased text reads `erased`. */
  readonly open: (subject: string, field: string, text: PersonalText) => string;
}

/**
 * How readers see the events of an entity. It must list every event type of the entity; a missing one is a type error.
 */
export interface EntityHistory<State, Events> {
  readonly entity: Entity<State, Events>;
  readonly events: {
    readonly [Type in keyof Events & string]: ListedEvent<State, Events[Type]> | typeof unlisted;
  };
  /** Null if the resource does not exist in this state. */
  readonly record: (state: State, resource: ResourceName, reader: RecordReader) => Promise<Json>;
  /** The subject of the personal texts that a state holds. */
  readonly personalSubject?: (state: State) => string | null;
}

// biome-ignore lint/suspicious/noExplicitAny: a table holds entities of every state; each stays typed where it is made.
export type AnyEntityHistory = EntityHistory<any, any>;

export function entityHistory<State, Events>(history: EntityHistory<State, Events>): EntityHistory<State, Events> {
  return history;
}

/** Quotes a text for a sentence. */
export function quote(text: string): string {
  const characters = [...text.slice(0, 2 * maxQuoted + 2)];
  return characters.length > maxQuoted ? `“${characters.slice(0, maxQuoted).join('')}…”` : `“${text}”`;
}

const maxQuoted = 80;
