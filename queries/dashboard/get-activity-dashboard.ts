import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { get } from '#application/operations/operation.ts';
import { query } from '#application/queries/query.ts';
import { timestamp } from '#domain/codecs/time.ts';
import { type ResourceKind, ResourceKindCodec } from '#domain/history/record.ts';
import type { Tenant } from '#domain/shared/access.ts';
import type { Counts } from '#domain/usage/usage-total.ts';
import { type ActivityDocument, activity, everId, otherActors } from '#projections/figures/activity.ts';
import { scopeOf } from '#projections/figures/figures-scope.ts';
import { figuresOwner, narrowingReads } from '#queries/shared/figures-owner.ts';
import { nullable } from '#shared/codecs/choice.ts';
import { text } from '#shared/codecs/text.ts';
import { dayRange, tenantFilters } from './dashboard-input.ts';
import { type DayRange, lastDays, sumOf } from './days.ts';
import { readActivity } from './read-activity.ts';

const counts = t.readonlyArray(t.number);

/** Events that histories and the audit list. Arrays are by day. */
export const ActivityAnswer = t.type(
  {
    /** The beginning of the first day, and the time of the answer. */
    from: timestamp,
    until: timestamp,
    /** Each day in UTC, `2026-01-05`, oldest first. */
    days: t.readonlyArray(text()),
    events: counts,
    total: t.number,
    /** The events of the same number of days before `from`. */
    previousTotal: t.number,
    /** The kinds of resource of the events, most events first. */
    kinds: t.readonlyArray(
      t.type({ kind: ResourceKindCodec, events: counts, total: t.number, previousTotal: t.number }),
    ),
    /** The actors of the events, most events first. Further keys have one entry together, with null. */
    actors: t.readonlyArray(
      t.type({
        keyId: nullable(text()),
        /** `admin`, …, or `system`. */
        keyType: nullable(text()),
        events: counts,
        total: t.number,
      }),
    ),
    /** The last 48 hours in UTC. The current hour is the last. */
    hours: t.type({ from: timestamp, events: counts }),
    /** What exists now. Templates and customers are null for keys that may not know of them and for single projects. */
    counts: t.type({
      flows: t.number,
      phoneNumbers: t.number,
      agentProfiles: t.number,
      templates: nullable(t.number),
      instances: t.number,
      customers: nullable(t.number),
      projects: t.number,
      keys: t.number,
      stores: t.number,
      files: t.number,
      batches: t.number,
      webhookEndpoints: t.number,
      /** All events since the beginning. */
      events: t.number,
    }),
  },
  'DashboardActivity',
);

export type ActivityAnswer = t.TypeOf<typeof ActivityAnswer>;

const defaultDays = 30;
const hoursShown = 48;
/** Maximum number of actors with an entry of their own. */
const maxActors = 20;
const hourMs = 60 * 60 * 1_000;

const Input = t.partial({ ...dayRange, ...tenantFilters });

const reads = { ...narrowingReads, activity };

export const getActivityDashboard = query<t.TypeOf<typeof Input>, Tenant, ActivityAnswer, keyof typeof reads>({
  about: {
    name: 'get_activity_dashboard',
    summary: 'Read the number of events by day, kind of resource and actor',
    description:
      'The events that histories list, for everything that the key has access to, or for one organization or project. It ' +
      'covers the last `days` (default 30, today included) and the same time before, and counts the resources.',
    group: 'Dashboard',
    example: {
      output: {
        from: '2026-01-04T00:00:00.000Z',
        until: '2026-01-05T09:30:00.000Z',
        days: ['2026-01-04', '2026-01-05'],
        events: [0, 3],
        total: 3,
        previousTotal: 1,
        kinds: [{ kind: 'flow', events: [0, 3], total: 3, previousTotal: 1 }],
        actors: [{ keyId: 'cm3v8k2p90000qzrm4d1x7w5b', keyType: 'project', events: [0, 3], total: 3 }],
        hours: { from: '2026-01-05T08:00:00.000Z', events: [1, 2] },
        counts: {
          flows: 1,
          phoneNumbers: 0,
          agentProfiles: 1,
          templates: null,
          instances: 0,
          customers: null,
          projects: 1,
          keys: 1,
          stores: 0,
          files: 0,
          batches: 0,
          webhookEndpoints: 0,
          events: 4,
        },
      },
    },
  },
  http: get('/v1/dashboard/activity'),
  access: { scope: 'dashboard:read', subject: null },
  input: Input,
  output: ActivityAnswer,
  failures: ['project-not-found', 'organization-not-found'],
  reads,
  readsMany: true,
  answer: async ({ input, time, request: { caller } }, { read }) => {
    const owner = await figuresOwner(caller, input, read);
    if (E.isLeft(owner)) return owner;
    const { kind, id } = owner.right;
    const scope = scopeOf(kind, id);
    // With a short range, the last 48 hours may begin in an earlier month.
    const range = lastDays(input.days ?? defaultDays, time);
    const byDay = await readActivity(read.activity, scope, monthsWithHours(range));
    const ever = await read.activity.get<ActivityDocument>(everId(scope));
    return E.right({
      body: {
        ...{ from: range.from, until: range.until, days: range.days },
        ...eventsOf(range, byDay),
        kinds: kindsOf(range, byDay),
        actors: actorsOf(range, byDay),
        hours: hoursOf(time, byDay),
        counts: countsOf(ever?.value.types ?? {}, kind === 'all' || kind === 'partner'),
      },
    });
  },
});

type ByDay = ReadonlyMap<string, ActivityDocument>;

function monthsWithHours({ months, until }: DayRange): ReadonlyArray<string> {
  const oldest = new Date(Date.parse(until) - hoursShown * hourMs).toISOString().slice(0, 7);
  return [...new Set([oldest, ...months])];
}

function eventsOf({ days, previousDays }: DayRange, byDay: ByDay) {
  const events = days.map((day) => byDay.get(day)?.events ?? 0);
  return { events, total: sumOf(events), previousTotal: sumOf(previousDays.map((day) => byDay.get(day)?.events ?? 0)) };
}

function kindsOf({ days, previousDays }: DayRange, byDay: ByDay): ActivityAnswer['kinds'] {
  const names = namesOf([...previousDays, ...days], byDay, ({ kinds }) => kinds);
  const kinds = names.map((kind) => {
    const of = (day: string) => byDay.get(day)?.kinds[kind] ?? 0;
    const events = days.map(of);
    return { kind: kind as ResourceKind, events, total: sumOf(events), previousTotal: sumOf(previousDays.map(of)) };
  });
  return kinds.sort((one, other) => other.total - one.total);
}

function actorsOf({ days }: DayRange, byDay: ByDay): ActivityAnswer['actors'] {
  const actors = namesOf(days, byDay, ({ actors }) => actors).map((name) => {
    const events = days.map((day) => byDay.get(day)?.actors[name] ?? 0);
    return { name, events, total: sumOf(events) };
  });
  const named = actors.filter(({ name }) => name !== otherActors).sort((one, other) => other.total - one.total);
  const shown = named.slice(0, maxActors).map(({ name, events, total }) => {
    const [keyType = '', keyId = ''] = name.split(' ');
    return { keyId, keyType, events, total };
  });
  const others = [...named.slice(maxActors), ...actors.filter(({ name }) => name === otherActors)];
  if (others.length === 0) return shown;
  const events = days.map((_, index) => sumOf(others.map(({ events }) => events[index] ?? 0)));
  return [...shown, { keyId: null, keyType: null, events, total: sumOf(events) }];
}

function namesOf(
  days: ReadonlyArray<string>,
  byDay: ByDay,
  countsOf: (document: ActivityDocument) => Counts,
): ReadonlyArray<string> {
  const counts = days.flatMap((day) => byDay.get(day) ?? []).map(countsOf);
  return [...new Set(counts.flatMap((names) => Object.keys(names)))].toSorted();
}

function hoursOf(now: string, byDay: ByDay): ActivityAnswer['hours'] {
  const first = Math.floor(Date.parse(now) / hourMs) * hourMs - (hoursShown - 1) * hourMs;
  const times = Array.from({ length: hoursShown }, (_, index) => new Date(first + index * hourMs).toISOString());
  const events = times.map((time) => byDay.get(time.slice(0, 10))?.hours[Number(time.slice(11, 13))] ?? 0);
  return { from: new Date(first).toISOString(), events };
}

function countsOf(types: Counts, knowsTemplates: boolean): ActivityAnswer['counts'] {
  const of = (type: string) => types[type] ?? 0;
  return {
    flows: of('FlowCreated') - of('FlowDeleted'),
    phoneNumbers: of('PhoneNumberCreated') - of('PhoneNumberDeleted'),
    agentProfiles: of('AgentProfileCreated') - of('AgentProfileDeleted'),
    templates: knowsTemplates ? of('TemplateCreated') : null,
    instances: of('InstanceCreated') - of('InstanceDeleted'),
    customers: knowsTemplates ? of('CustomerCreated') : null,
    projects: of('ProjectCreated'),
    keys: of('ApiKeyCreated') - of('ApiKeyRevoked'),
    stores: of('StoreCreated') - of('StoreDeleted'),
    files: of('FileCreated') - of('FileDeleted'),
    batches: of('BatchCreated'),
    webhookEndpoints: of('WebhookEndpointCreated') - of('WebhookEndpointDeleted'),
    events: sumOf(Object.values(types)),
  };
}
