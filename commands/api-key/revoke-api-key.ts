import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { apiKey, apiKeyRecord } from '#domain/api-key/api-key.ts';
import { mayManage } from '#domain/api-key/may-manage.ts';
import { ApiKeyRecord } from '#domain/api-key/record.ts';
import { cuid } from '#domain/codecs.ts';
import { happened } from '#domain/event.ts';
import { examples } from '#domain/examples.ts';
import { command } from '#operations/command.ts';
import { remove } from '#operations/operation.ts';

export const revokeApiKey = command({
  name: 'revoke_api_key',
  summary: 'Revoke an API key for good',
  group: 'API keys',
  http: remove('/v1/keys/:keyId'),
  scope: 'keys:write',
  input: t.type({ keyId: cuid }),
  output: ApiKeyRecord,
  failures: ['key-not-found'],
  example: { output: examples.apiKey },
  entity: apiKey,
  subject: { entity: apiKey, parameter: 'keyId' },
  decide: ({ keyId }, state, { caller }) => {
    const refusal = mayManage(caller, state);
    return refusal === null ? E.right([happened('ApiKeyRevoked', { id: keyId })]) : E.left(refusal);
  },
  answer: async ({ input, state, lookup }) => ({
    ...apiKeyRecord(state),
    lastUsedAt: await lookup.keyLastUsed(input.keyId),
  }),
});
