import { type AnyOperation, asksProvider } from '#application/operations/operation.ts';
import type { JsonObject } from '#shared/json/json.ts';

// No header has an example: the documentation page would send it.
const header = (name: string, description: string, schema: JsonObject = { type: 'string' }): JsonObject => ({
  name,
  in: 'header',
  required: false,
  description,
  schema,
});

const idempotencyKeyHeader = header(
  'Idempotency-Key',
  'The same key with the same body gets the first answer again, for at least 24 hours.',
  { type: 'string', minLength: 1, maxLength: 255, pattern: '^[ -~]+$' },
);

const ifMatchHeader = header(
  'If-Match',
  'An ETag as it was answered, like `"3"`: refuses with 412 when the resource has changed since.',
);

const rangeHeader = header(
  'Range',
  'One part of the bytes, like `bytes=0-99`; the answer is 206. For several parts, the answer is the whole.',
);

const minPositionHeader = header(
  'Switchyard-Min-Position',
  'A Switchyard-Position: the answer holds what was written there, or is 503 after a second.',
  { type: 'string', pattern: '^[0-9]{1,15}$' },
);

const ifNoneMatchHeader = header(
  'If-None-Match',
  'An ETag as it was answered: the answer is 304 without a body while the resource has not changed.',
);

const preferHeader = header(
  'Prefer',
  '`handling=strict` (RFC 7240) refuses members and query parameters that the operation does not know with 422. ' +
    'Without it they are left out, and named in `Switchyard-Ignored`.',
);

const lastEventIdHeader = header(
  'Last-Event-ID',
  'The last `id` that was received. The events after it are sent first.',
  { type: 'string', pattern: '^[0-9]{1,16}$' },
);

const onBehalfOfHeader = header(
  'Switchyard-On-Behalf-Of',
  'For whom your system acts: an opaque id of its own, no name and no address. Histories and the audit show it as claimed.',
  { type: 'string', pattern: '^[A-Za-z0-9._:-]{1,64}$' },
);

/** The headers of requests in addition to the API key. */
export function requestHeaders(operation: AnyOperation): ReadonlyArray<JsonObject> {
  const { kind, hasRevision, isConditional = false } = operation;
  switch (kind) {
    case 'streaming':
      return asksProvider(operation) ? [] : [lastEventIdHeader];
    case 'query':
      return [minPositionHeader, ...(isConditional ? [ifNoneMatchHeader] : []), preferHeader];
    case 'download':
      return [minPositionHeader, rangeHeader, ifNoneMatchHeader, preferHeader];
    case 'upload':
      return [idempotencyKeyHeader, onBehalfOfHeader];
    case 'command':
      return [idempotencyKeyHeader, ...(hasRevision ? [ifMatchHeader] : []), onBehalfOfHeader, preferHeader];
  }
}

const text = (description: string, example: string): JsonObject => ({
  description,
  schema: { type: 'string' },
  example,
});

export const responseHeaders: JsonObject = {
  'X-Request-Id': text('The request’s id, which is also in the log', 'cm3v8k2p90000qzrm4d1x7w5b'),
  ETag: text('The revision. Send it back as If-Match or If-None-Match', '"3"'),
  'Switchyard-Position': text('The position of the change in the log. Send it back as Switchyard-Min-Position', '42'),
  Link: text('The next page', '</v1/projects?limit=10&cursor=abc>; rel="next"'),
  'Content-Disposition': text('The name of the file', 'attachment; filename="input.jsonl"'),
  'Accept-Ranges': text('Range requests are possible', 'bytes'),
  'Content-Range': text('The position of this part', 'bytes 0-99/1234'),
  'Idempotency-Replayed': text('The answer to an earlier request with this Idempotency-Key', 'true'),
  'Switchyard-Ignored': text(
    'The members and query parameters that the operation does not know and has left out',
    '/budget, ?nam',
  ),
  'Preference-Applied': text('The applied preferences of Prefer', 'handling=strict'),
  Location: text('The path of the created resource', '/v1/flows/cm3v8k2p90000qzrm4d1x7w5b'),
  'X-Switchyard-Target': text('The provider and its model that answered', 'openai/gpt-4.1'),
  'X-Switchyard-Attempts': {
    description: 'Tries, that one included',
    schema: { type: 'integer', minimum: 1 },
    example: 1,
  },
  'X-Switchyard-Cost': text(
    'The cost of the call, if it is known when the head is sent; for keys with usage:read',
    '0.000264',
  ),
  'X-Switchyard-Ignored': text(
    'Pointers to the members of a translated request that the target does not get',
    '/metadata, /messages/*/content/*/cache_control',
  ),
  'X-Switchyard-Provider-Request-Id': text('The provider’s id of the request, if it sends one', 'req_7f3a9c'),
  'Retry-After': { description: 'Seconds to wait', schema: { type: 'integer', minimum: 1 }, example: 1 },
  'WWW-Authenticate': text('How to present a key', 'Bearer realm="switchyard"'),
};

/** References to headers, for the description of an answer. */
export function headersNamed(names: ReadonlyArray<string>): JsonObject {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
