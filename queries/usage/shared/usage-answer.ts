import * as t from 'io-ts';
import { timestamp } from '#domain/codecs/time.ts';
import { nullable } from '#shared/codecs/choice.ts';
import { text } from '#shared/codecs/text.ts';
import { usageFigures } from './usage-figures.ts';

/** A row has those of these members that `groupBy` names. */
const Group = t.partial({
  /** The first moment of the hour in UTC. */
  hour: timestamp,
  /** The day in UTC, `2026-01-05`. */
  day: text(),
  /** The id of the API key. */
  key: text(),
  /** The id of the project; null for calls of which it was not recorded. */
  project: nullable(text()),
  model: text(),
  /** `provider/model`; null for calls that came to none. */
  target: nullable(text()),
});

const UsageRow = t.intersection([Group, t.type(usageFigures)], 'UsageRow');

export type UsageRow = t.TypeOf<typeof UsageRow>;

/** `GET /v1/usage`. Rows are by time, then the most calls first. */
export const UsageAnswer = t.type(
  {
    /** What is counted: `from` and `until` of the request, moved outwards to whole hours, or to days where hours are no longer kept. */
    from: timestamp,
    until: timestamp,
    rows: t.readonlyArray(UsageRow),
  },
  'Usage',
);

export type UsageAnswer = t.TypeOf<typeof UsageAnswer>;
