import * as t from 'io-ts';
import { timestamp } from '#domain/codecs/time.ts';
import { nullable } from '#shared/codecs/choice.ts';
import { integer } from '#shared/codecs/number.ts';

const count = integer(0, Number.MAX_SAFE_INTEGER);

/** The verification of the log against its signed digests. */
export const LogVerification = t.type(
  {
    /** When the verification ended. */
    time: timestamp,
    /** When the last verification of the whole log ended; null before the first. */
    wholeTime: nullable(timestamp),
    /** The number of events in the whole log, or of those since the verification before. */
    events: count,
    /** The log is verified up to this digest; null if it could not be. */
    digest: nullable(t.type({ chain: t.number, number: t.number })),
    /** The first findings, as sentences. */
    findings: t.readonlyArray(t.string),
    findingCount: count,
  },
  'LogVerification',
);

export type LogVerification = Readonly<t.TypeOf<typeof LogVerification>>;
