import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { answerAsOf, asOfInput, type PastReadName, pastReadNames } from '#application/history/as-of.ts';
import { get } from '#application/operations/operation.ts';
import { query } from '#application/queries/query.ts';
import { apiKey } from '#domain/api-key/api-key.ts';
import { apiKeyHistory } from '#domain/api-key/history.ts';
import { ApiKeyRecord } from '#domain/api-key/record.ts';
import { cuid } from '#domain/codecs/id.ts';
import { type ApiKeyDocument, apiKeys } from '#projections/access/api-keys.ts';

const Input = t.intersection([t.type({ keyId: cuid }), t.partial(asOfInput)]);

const notFound = 'key-not-found';
const past = { history: apiKeyHistory, entity: apiKey, kind: 'key', notFound } as const;

export const getApiKey = query<t.TypeOf<typeof Input>, ApiKeyDocument, ApiKeyRecord, never, PastReadName | 'keyUsage'>({
  about: {
    name: 'get_api_key',
    summary: 'Read an API key',
    description: 'Without its secret. `lastUsedAt` is null with `asOf`.',
    group: 'API keys',
    example: { output: ApiKeyRecord.example },
  },
  http: get('/v1/keys/:keyId'),
  access: { scope: 'keys:read', subject: { collection: apiKeys, parameter: 'keyId', notFound, past: apiKey } },
  input: Input,
  output: ApiKeyRecord,
  failures: [notFound],
  reads: {},
  services: [...pastReadNames, 'keyUsage'],
  hasRevision: true,
  changesWithinRevision: true,
  answer: answerAsOf(past, async ({ subject: { id, record, head } }, { keyUsage }) => {
    const lastUsedAt = (await keyUsage.lastUsed([id])).get(id) ?? null;
    return E.right({ body: { ...record.parse(), lastUsedAt }, revision: head.revision });
  }),
});
