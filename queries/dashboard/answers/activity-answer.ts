import * as t from 'io-ts';
import { timestamp } from '#domain/codecs/time.ts';
import { resourceKinds } from '#domain/history/listed-event.ts';
import { nullable, oneOf } from '#shared/codecs/choice.ts';
import { text } from '#shared/codecs/text.ts';

const counts = t.readonlyArray(t.number);

/** The answer of `GET /v1/dashboard/activity`: the events that histories and the audit list. Arrays are by day. */
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
      t.type({ kind: oneOf(...resourceKinds), events: counts, total: t.number, previousTotal: t.number }),
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
