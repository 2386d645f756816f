import type { JsonObject } from '#shared/json/json.ts';

const text = (description: string, example: string): JsonObject => ({
  description,
  schema: { type: 'string' },
  example,
});

/** The headers of answers, by name. */
export const responseHeaders: JsonObject = {
  'X-Request-Id': text('The request’s id, which is also in the log', 'cm3v8k2p90000qzrm4d1x7w5b'),
  ETag: text('The revision. Send it back as If-Match or If-None-Match', '"3"'),
  'Switchyard-Position': text('The position of the change in the log. Send it back as Switchyard-Min-Position', '42'),
  Link: text('The next page', '</v1/projects?limit=10&cursor=abc>; rel="next"'),
  'Content-Disposition': text('The name of the file', 'attachment; filename="input.jsonl"'),
  'Accept-Ranges': text('Range requests are possible', 'bytes'),
  'Content-Range': text('The position of this part', 'bytes 0-99/1234'),
  'Idempotency-Replayed': text('The answer to an earlier request with this Idempotency-Key', 'true'),
  'Preference-Applied': text('The applied preferences of Prefer', 'handling=strict'),
  Location: text('The path of the created resource', '/v1/flows/cm3v8k2p90000qzrm4d1x7w5b'),
  'X-Switchyard-Target': text('The provider and its model that answered', 'openai/gpt-4.1'),
  'X-Switchyard-Attempts': {
    description: 'Tries, that one included',
    schema: { type: 'integer', minimum: 1 },
    example: 1,
  },
  'X-Switchyard-Provider-Request-Id': text('The provider’s id of the request, if it sends one', 'req_7f3a9c'),
  'Retry-After': { description: 'Seconds to wait', schema: { type: 'integer', minimum: 1 }, example: 1 },
  'WWW-Authenticate': text('How to present a key', 'Bearer realm="switchyard"'),
};

/** Returns references to headers for the description of an answer. */
export function headersNamed(names: ReadonlyArray<string>): JsonObject {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
