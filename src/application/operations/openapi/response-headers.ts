import type { JsonObject } from '#shared/json/json.ts';

const text = (description: string, example: string): JsonObject => ({
  description,
  schema: { type: 'string' },
  example,
});

/** The headers of answers, by name. */
export const responseHeaders: JsonObject = {
  'X-Request-Id': text('The request’s id, in the log as well', 'cm3v8k2p90000qzrm4d1x7w5b'),
  ETag: text('The revision: send it back as If-Match or If-None-Match', '"3"'),
  'Switchyard-Position': text('The position of the change in the log: send it back as Switchyard-Min-Position', '42'),
  Link: text('The next page', '</v1/projects?limit=10&cursor=abc>; rel="next"'),
  'Content-Disposition': text('Its name, to be saved under', 'attachment; filename="input.jsonl"'),
  'Accept-Ranges': text('That parts of it may be asked for', 'bytes'),
  'Content-Range': text('Which part it is', 'bytes 0-99/1234'),
  'Idempotency-Replayed': text('The answer to an earlier request with this Idempotency-Key', 'true'),
  'Preference-Applied': text('What was done of Prefer', 'handling=strict'),
  Location: text('Where to read what was created', '/v1/flows/cm3v8k2p90000qzrm4d1x7w5b'),
  'X-Switchyard-Target': text('The provider and its model that answered', 'openai/gpt-4.1'),
  'X-Switchyard-Attempts': {
    description: 'Tries, that one included',
    schema: { type: 'integer', minimum: 1 },
    example: 1,
  },
  'X-Switchyard-Provider-Request-Id': text('The provider’s own id of the request, where it gives one', 'req_7f3a9c'),
  'Retry-After': { description: 'Seconds to wait', schema: { type: 'integer', minimum: 1 }, example: 1 },
  'WWW-Authenticate': text('How to present a key', 'Bearer realm="switchyard"'),
};

/** References to some headers, as an answer names them. */
export function headersNamed(names: ReadonlyArray<string>): JsonObject {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
