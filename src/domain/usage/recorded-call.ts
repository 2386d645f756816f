import * as t from 'io-ts';
import { timestamp } from '#domain/codecs/time.ts';
import { enumeration, nullable } from '#shared/codecs/choice.ts';
import { withJsonSchema } from '#shared/codecs/json-schema.ts';
import { integer } from '#shared/codecs/number.ts';

const count = integer(0, Number.MAX_SAFE_INTEGER);

/** `served`, `refused` (the request is invalid), `failed`, `broken-off` in mid-answer, or the client left. */
export const CallOutcome = enumeration('CallOutcome', 'served', 'refused', 'failed', 'broken-off', 'client-gone');
export type CallOutcome = t.TypeOf<typeof CallOutcome>;

const AttemptResult = enumeration('AttemptResult', 'served', 'failed', 'abandoned');

const RecordedAttempt = t.type(
  {
    /** Which target of the call was asked, from 1; a repetition on the same target has the same number. */
    targetNumber: integer(1, Number.MAX_SAFE_INTEGER),
    /** `provider/model`: of the target that served, and for keys of type `admin` of every one; otherwise null. */
    target: nullable(t.string),
    result: AttemptResult,
    /** The status of the provider's answer; null without an answer. */
    status: nullable(integer(100, 999)),
    /** The gateway's code of the failure; null without one. */
    reason: nullable(t.string),
    /** When it began, in ms after the complete request arrived. */
    startMs: t.number,
    durationMs: t.number,
  },
  'RecordedAttempt',
);

/** A call. Nothing of what was said is in it, and no text of a provider. */
export const RecordedCall = t.intersection(
  [
    t.type({
      requestId: t.string,
      /** When the complete request had arrived. */
      time: timestamp,
      keyId: t.string,
      operation: enumeration('CallOperation', 'chat', 'responses', 'messages', 'embeddings', 'speech', 'transcription'),
      /** The catalogue tag, or the voice that chose the model. */
      model: t.string,
      streamed: t.boolean,
      outcome: CallOutcome,
      /** The gateway's code of the last failure; null if the call was served or the client left. */
      reason: nullable(t.string),
      attempts: t.readonlyArray(RecordedAttempt),
      /** When the first content came, in ms after the complete request arrived; null without content. */
      firstContentMs: nullable(t.number),
      totalMs: t.number,
      inputTokens: nullable(count),
      outputTokens: nullable(count),
      /** The number of Unicode characters of a text that was spoken. */
      characters: nullable(count),
      /** The length of a transcribed audio. */
      audioSeconds: nullable(t.number),
      /** The call is a line of this batch; null for a client's call. */
      batchId: nullable(t.string),
      /** Release 0.5.0 had records that represented several calls. The next release does not send it. */
      callsRepresented: withJsonSchema(t.literal(1), { type: 'integer', const: 1, deprecated: true }),
    }),
    /** The cost in the currency of the configuration; null if it is not known. Only for keys with `usage:read`. */
    t.partial({ cost: nullable(t.number) }),
  ],
  'RecordedCall',
);

export type RecordedCall = t.TypeOf<typeof RecordedCall>;
