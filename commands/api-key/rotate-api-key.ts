import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { command } from '#application/commands/command.ts';
import { post } from '#application/operations/operation.ts';
import {
  apiKey,
  apiKeyRecord,
  checkMayManage,
  expiryRefusal,
  makerOf,
  makerRevoked,
  newestSecretOf,
} from '#domain/api-key/api-key.ts';
import { ApiKeyRecord, ApiKeyWithSecret } from '#domain/api-key/record.ts';
import { storedFormOfKey } from '#domain/api-key/secret.ts';
import { cuid } from '#domain/codecs/id.ts';
import { instant } from '#domain/codecs/time.ts';
import { newEvent } from '#domain/shared/event.ts';
import { nullable } from '#shared/codecs/choice.ts';
import { withDefault } from '#shared/codecs/default.ts';
import { integer } from '#shared/codecs/number.ts';

const daySeconds = 86_400;

export const rotateApiKey = command({
  about: {
    name: 'rotate_api_key',
    summary: 'Give an API key a new secret',
    description:
      'The id stays. All earlier secrets end at the end of the overlap at the latest; without an overlap they end immediately. `expiresAt` moves the end of the key; null removes it.',
    group: 'API keys',
    effect: { isDestructive: true },
    example: { input: { overlapSeconds: 3600 }, output: { ...ApiKeyRecord.example, key: 'sy_live_…' } },
  },
  http: post('/v1/keys/:keyId/rotate'),
  access: { scope: 'keys:write', subject: { entity: apiKey, parameter: 'keyId' } },
  input: t.intersection([
    t.type({ keyId: cuid }),
    t.partial({ overlapSeconds: withDefault(integer(0, daySeconds), 0), expiresAt: nullable(instant) }),
  ]),
  output: ApiKeyWithSecret,
  failures: ['key-not-found'],
  entity: apiKey,
  decide: ({ keyId, overlapSeconds = 0, expiresAt: given }, state, { caller, newSecrets, time }) => {
    const expiredAt = state?.record.expiresAt ?? null;
    const expiresAt = given === undefined ? expiredAt : given;
    const refusal = checkMayManage(caller, state) ?? expiryRefusal(expiresAt, time);
    if (refusal !== null) return E.left(refusal);
    const overlapEnd = new Date(Date.parse(time) + overlapSeconds * 1000).toISOString();
    return E.right([
      newEvent('ApiKeyRotated', {
        id: keyId,
        ...storedFormOfKey(newSecrets.apiKey),
        previousSecretHash: newestSecretOf(state) ?? '',
        // The new expiry does not extend the earlier secret: it still ends at the old one.
        previousValidUntil: expiredAt !== null && expiredAt < overlapEnd ? expiredAt : overlapEnd,
        rotatedByKeyId: makerOf(caller),
        expiresAt,
      }),
    ]);
  },
  afterAppend: async (_, { load }, caller) => {
    const rotatorId = makerOf(caller);
    if (rotatorId === null) return null;
    const { state } = await load(apiKey, rotatorId);
    return state?.revoked === true ? makerRevoked : null;
  },
  answer: async ({ input, state, newSecrets, lookup }) => ({
    ...apiKeyRecord(state),
    lastUsedAt: await lookup.keyLastUsed(input.keyId),
    ...(newSecrets === null ? {} : { key: newSecrets.apiKey }),
  }),
});
