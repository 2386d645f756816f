import type * as t from 'io-ts';
import { exampleIds } from '#domain/shared/examples.ts';
import { nullable, oneOf } from '#shared/codecs/choice.ts';
import { withJsonSchema } from '#shared/codecs/json-schema.ts';
import { integer } from '#shared/codecs/number.ts';
import { object } from '#shared/codecs/object.ts';
import { record } from '#shared/codecs/record.ts';
import { text, textLike } from '#shared/codecs/text.ts';

/** An id in OpenAI's form. */
export const fileId = withJsonSchema(textLike(/^file-[0-9a-z]{8,64}$/), {
  type: 'string',
  pattern: '^file-[0-9a-z]{8,64}$',
  examples: ['file-cf2k6t0w4z8n1b5q9x3m7v0d'],
});

/** Seconds since 1970, as in OpenAI's objects. */
export const unixTime = withJsonSchema(integer(0, Number.MAX_SAFE_INTEGER), {
  type: 'integer',
  description: 'Seconds since 1970',
});

/** One of OpenAI's values, or any other. */
export const FilePurpose = text({ min: 1, max: 64 });

/** When the file expires, as in OpenAI's API: after an hour at least, after thirty days at most. */
export const ExpiresAfter = object({ anchor: oneOf('created_at'), seconds: integer(3_600, 2_592_000) }, {});

/** A file in the form of OpenAI's object. */
export const FileRecord = record('File', {
  id: [fileId, exampleIds.file],
  object: [oneOf('file'), 'file'],
  bytes: [integer(0, Number.MAX_SAFE_INTEGER), 1_204],
  created_at: [unixTime, 1_767_605_400],
  expires_at: [nullable(unixTime), null],
  filename: [text(), 'questions.jsonl'],
  purpose: [text(), 'batch'],
  status: [oneOf('processed'), 'processed'],
});

export type FileRecord = t.TypeOf<typeof FileRecord>;

/** Converts a time in RFC 3339. */
export function unixSeconds(time: string): number {
  return Math.floor(Date.parse(time) / 1_000);
}
