import * as t from 'io-ts';
import { timestamp } from '#domain/codecs/time.ts';
import { nullable } from '#shared/codecs/choice.ts';
import { integer } from '#shared/codecs/number.ts';

const count = integer(0, Number.MAX_SAFE_INTEGER);

/** The last verification of the log against its signed digests. */
export const LogVerification = t.type(
  {
    /** When it ended. */
    time: timestamp,
    /** When the last verification of the whole log ended; null before the first. */
    wholeTime: nullable(timestamp),
    /** The verified events: those of the whole log, or those since the verification before. */
    events: count,
    /** The newest digest up to which the log is verified; null if it could not be. */
    digest: nullable(t.type({ chain: t.number, number: t.number })),
    /** What is wrong with the log: the first ones, as sentences. */
    findings: t.readonlyArray(t.string),
    /** How many there are. */
    findingCount: count,
  },
  'LogVerification',
);

export type LogVerification = Readonly<t.TypeOf<typeof LogVerification>>;
