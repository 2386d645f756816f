import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { apiKey, apiKeyRecord } from '#domain/api-key/api-key.ts';
import { mayManage } from '#domain/api-key/may-manage.ts';
import { ApiKeyWithSecret } from '#domain/api-key/record.ts';
import { keptOfSecret } from '#domain/api-key/secret.ts';
import { cuid, integer, withDefault } from '#domain/codecs.ts';
import { happened } from '#domain/event.ts';
import { examples } from '#domain/examples.ts';
import { command } from '#operations/command.ts';
import { post } from '#operations/operation.ts';

const daySeconds = 86_400;

export const rotateApiKey = command({
  name: 'rotate_api_key',
  summary: 'Give an API key a new secret',
  description: 'The id stays. The old secret works until the overlap ends; without one it ends at once.',
  group: 'API keys',
  http: post('/v1/keys/:keyId/rotate'),
  scope: 'keys:write',
  input: t.intersection([
    t.type({ keyId: cuid }),
    t.partial({ overlapSeconds: withDefault(integer(0, daySeconds), 0) }),
  ]),
  output: ApiKeyWithSecret,
  failures: ['key-not-found'],
  example: { input: { overlapSeconds: 3600 }, output: { ...examples.apiKey, key: 'sy_live_…' } },
  entity: apiKey,
  subject: { entity: apiKey, parameter: 'keyId' },
  decide: ({ keyId, overlapSeconds = 0 }, state, { caller, secret, time }) => {
    const refusal = mayManage(caller, state);
    if (refusal !== null) return E.left(refusal);
    const previousValidUntil = new Date(Date.parse(time) + overlapSeconds * 1000).toISOString();
    const previousSecretHash = state?.secretHash ?? '';
    const kept = keptOfSecret(secret.key);
    return E.right([happened('ApiKeyRotated', { id: keyId, ...kept, previousSecretHash, previousValidUntil })]);
  },
  answer: async ({ input, state, secret, lookup }) => ({
    ...apiKeyRecord(state),
    lastUsedAt: await lookup.keyLastUsed(input.keyId),
    ...(secret === null ? {} : { key: secret.key }),
  }),
});
