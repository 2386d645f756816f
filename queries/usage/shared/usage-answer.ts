import * as t from 'io-ts';
import { timestamp } from '#domain/codecs/time.ts';
import { nullable } from '#shared/codecs/choice.ts';
import { text } from '#shared/codecs/text.ts';
import { usageFigures } from './usage-figures.ts';

/** A row has the members that `groupBy` names. */
const Group = t.partial({
  /** The first moment of the hour in UTC. */
  hour: timestamp,
  /** The day in UTC, `2026-01-05`. */
  day: text(),
  /** The id of the API key. */
  key: text(),
  /** The id of the project; null for calls without a recorded project. */
  project: nullable(text()),
  model: text(),
  /** `provider/model`; null for calls that went to no target. */
  target: nullable(text()),
});

const UsageRow = t.intersection([Group, t.type(usageFigures)], 'UsageRow');

export type UsageRow = t.TypeOf<typeof UsageRow>;

/** The answer of `GET /v1/usage`. Rows are in the order of time, then by calls, most first. */
export const UsageAnswer = t.type(
  {
    /** The counted range: that of the request, extended to whole hours, or to days if hours are no longer kept. */
    from: timestamp,
    until: timestamp,
    rows: t.readonlyArray(UsageRow),
  },
  'Usage',
);

export type UsageAnswer = t.TypeOf<typeof UsageAnswer>;
