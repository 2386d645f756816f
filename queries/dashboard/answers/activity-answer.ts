import * as t from 'io-ts';
import { timestamp } from '#domain/codecs/time.ts';
import { resourceKinds } from '#domain/history/listed-event.ts';
import { nullable, oneOf } from '#shared/codecs/choice.ts';
import { text } from '#shared/codecs/text.ts';

const counts = t.readonlyArray(t.number);

/** `GET /v1/dashboard/activity`: what happened, as histories and the audit list it. Every array is by day. */
export const ActivityAnswer = t.type(
  {
    /** The first day's first moment, and the time of the answer. */
    from: timestamp,
    until: timestamp,
    /** Each day in UTC, `2026-01-05`, the oldest first. */
    days: t.readonlyArray(text()),
    events: counts,
    total: t.number,
    /** Of as many days before `from`. */
    previousTotal: t.number,
    /** The kinds of resource that events were about, the busiest first. */
    kinds: t.readonlyArray(
      t.type({ kind: oneOf(...resourceKinds), events: counts, total: t.number, previousTotal: t.number }),
    ),
    /** Who caused events, the busiest first; the keys beyond those counted apart are one entry with null. */
    actors: t.readonlyArray(
      t.type({
        keyId: nullable(text()),
        /** `admin`, …, or `system`. */
        keyType: nullable(text()),
        events: counts,
        total: t.number,
      }),
    ),
    /** The last 48 hours in UTC, the running one last. */
    hours: t.type({ from: timestamp, events: counts }),
    /** What exists now. Templates, customers: null where the key may not know of them, or one project is asked for. */
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
      /** Events ever. */
      events: t.number,
    }),
  },
  'DashboardActivity',
);

export type ActivityAnswer = t.TypeOf<typeof ActivityAnswer>;
