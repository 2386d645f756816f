import type { Entity } from '#domain/shared/entity.ts';
import type { PersonalText } from '#domain/shared/personal-data.ts';
import type { DataAt } from '#domain/shared/text-reference.ts';
import type { Json } from '#shared/json/json.ts';

/** The kinds of resource that events are about, as histories and the audit name them. */
export const resourceKinds = [
  'flow',
  'flow-version',
  'phone-number',
  'agent-profile',
  'template',
  'template-version',
  'instance',
  'store',
  'file',
  'batch',
  'organization',
  'customer',
  'project',
  'key',
  'webhook-endpoint',
  'projection',
  'process',
] as const;

export type ResourceKind = (typeof resourceKinds)[number];

/** A resource as histories and the audit name it. */
export interface ResourceName {
  readonly kind: ResourceKind;
  readonly id: string;
}

/** What histories and the audit say of one type of event. */
export interface ListedEvent<State, Data> {
  /** The resource that it is about. @param key of the event's stream */
  readonly resource: (data: Data, key: string) => ResourceName;
  /** A further resource that it changes: it is in that one's history too. */
  readonly other?: (data: Data) => ResourceName | null;
  /** One sentence, without personal data. @param state after the event */
  readonly summary: (data: Data, state: State) => string;
}

/** What says of an event type that no history, audit, feed or webhook lists it. */
export const unlisted = Symbol('unlisted');

/** Reads what a state does not hold. */
export interface RecordReader {
  /** The data of an event of the stream. */
  readonly dataAt: DataAt;
  /** Opens a text of a person's; what was erased reads so. */
  readonly open: (subject: string, field: string, text: PersonalText) => string;
}

/**
 * What an entity's events mean to a person who reads them. Every event type of the entity is here, so that a new one
 * cannot be forgotten.
 */
export interface EntityHistory<State, Events> {
  readonly entity: Entity<State, Events>;
  readonly events: {
    readonly [Type in keyof Events & string]: ListedEvent<State, Events[Type]> | typeof unlisted;
  };
  /** The record of a resource of the stream, as it is given out; null where there is none in this state. */
  readonly record: (state: State, resource: ResourceName, reader: RecordReader) => Promise<Json>;
  /** Those whose personal texts a state holds. */
  readonly personalSubject?: (state: State) => string | null;
}

// biome-ignore lint/suspicious/noExplicitAny: a table holds entities of every state; each stays typed where it is made.
export type AnyEntityHistory = EntityHistory<any, any>;

/** Declares what an entity's events mean. */
export function entityHistory<State, Events>(history: EntityHistory<State, Events>): EntityHistory<State, Events> {
  return history;
}

/** Shortens a text of a client's for a sentence. */
export function quote(text: string): string {
  const characters = [...text.slice(0, 2 * maxQuoted + 2)];
  return characters.length > maxQuoted ? `“${characters.slice(0, maxQuoted).join('')}…”` : `“${text}”`;
}

const maxQuoted = 80;
