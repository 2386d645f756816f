import { LRUCache } from 'lru-cache';
import { historyOfType, listedTypes } from '#domain/histories.ts';
import type { ResourceKind } from '#domain/history/record.ts';
import { streamKeyOf } from '#domain/shared/entity.ts';
import type { Counts } from '#domain/usage/usage-total.ts';
import type { RecordedEvent } from '#event-store/event-store.ts';
import { projection } from '#projection-engine/projection.ts';
import type { JsonObject } from '#shared/json/json.ts';
import { scopesOf } from './figures-scope.ts';

/** The activity in an owner's resources, on one day or of all time. */
export interface ActivityDocument {
  /** See `scopeOf`. */
  readonly scope: string;
  /** The month of the day, by which days are listed; null for all time. */
  readonly month: string | null;
  /** `2026-01-05`, in UTC; null for all time. */
  readonly day: string | null;
  readonly events: number;
  /** The events of each hour (UTC) of the day. */
  readonly hours: ReadonlyArray<number>;
  readonly types: Counts;
  readonly kinds: Counts;
  /** The events by the type and the id of the key, separated by a blank. */
  readonly actors: Counts;
}

/** Maximum number of actors that are counted separately on a day. Events of others count for `otherActors`. */
const maxActors = 50;
/** The entry under which further actors are counted. */
export const otherActors = '';

/** The document of an owner for all time. */
export const everId = (scope: string) => `${scope} ever`;

const dayId = (scope: string, day: string) => `${scope} ${day}`;

/** Counts the events that histories list, by owner: everybody, each partner, each organization and each project. */
export const activity = projection<ActivityDocument, Readonly<Record<string, JsonObject>>>({
  name: 'activity',
  version: 1,
  keys: idsOf,
  on: Object.fromEntries(listedTypes.map((type) => [type, count])),
  // Readers read it after the days, so it is never less than their sum.
  isWrittenFirst: ({ day }) => day === null,
  indexes: [['scope', 'month']],
});

/**
 * The ids of documents by tenant and day. A text that is made once is found faster in a map than one that each event
 * makes again.
 */
const knownIds = new LRUCache<string, ReadonlyArray<string>>({ max: 5000 });

/** The documents of the day and of all time, of every owner that counts the event. */
function idsOf(event: RecordedEvent): ReadonlyArray<string> {
  const { organizationId, projectId, partnerId, time } = event.metadata;
  const isTemplate = isOfTemplate(kindOf(event));
  const day = time.slice(0, 10);
  const name = `${day} ${partnerId} ${organizationId} ${projectId} ${isTemplate}`;
  const known = knownIds.get(name);
  if (known !== undefined) return known;
  const scopes = scopesOf(event.metadata).filter((scope) => !isTemplate || isOfPartner(scope));
  const ids = scopes.flatMap((scope) => [dayId(scope, day), everId(scope)]);
  knownIds.set(name, ids);
  return ids;
}

/** Only partners and operators may see templates. Figures of organizations and projects do not count templates. */
function isOfPartner(scope: string): boolean {
  return scope === 'all' || scope.startsWith('partner:');
}

function isOfTemplate(kind: ResourceKind): boolean {
  return kind === 'template' || kind === 'template-version';
}

function kindOf({ type, data, stream }: RecordedEvent): ResourceKind {
  const listed = historyOfType(type);
  if (listed === null) throw new Error(`no history lists ${type}`);
  return listed.resource(data, streamKeyOf(stream)).kind;
}

function count(document: ActivityDocument | null, event: RecordedEvent, id: string): ActivityDocument {
  const { type, metadata } = event;
  const before = document ?? nothing(id, metadata.time.slice(0, 10));
  const events = before.events + 1;
  const types = countOne(before.types, type);
  if (before.day === null) return { ...before, events, types };
  const hour = Number(metadata.time.slice(11, 13));
  return {
    ...before,
    events,
    hours: before.hours.with(hour, (before.hours[hour] ?? 0) + 1),
    types,
    kinds: countOne(before.kinds, kindOf(event)),
    actors: countOne(before.actors, actorOf(before, event)),
  };
}

function countOne(counts: Counts, name: string): Counts {
  return { ...counts, [name]: (counts[name] ?? 0) + 1 };
}

/** @param today the day of the first event */
function nothing(id: string, today: string): ActivityDocument {
  const scope = id.slice(0, id.indexOf(' '));
  const day = id === everId(scope) ? null : today;
  const hours = day === null ? [] : new Array<number>(24).fill(0);
  const month = day === null ? null : day.slice(0, 7);
  return { scope, month, day, events: 0, hours, types: {}, kinds: {}, actors: {} };
}

function actorOf({ actors }: ActivityDocument, { metadata: { actor } }: RecordedEvent): string {
  const name = `${actor.keyType} ${actor.keyId}`;
  return Object.hasOwn(actors, name) || Object.keys(actors).length < maxActors ? name : otherActors;
}
