import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { command } from '#application/commands/command.ts';
import { post } from '#application/operations/operation.ts';
import { allKeys, keyCutoff } from '#domain/api-key/api-key.ts';
import { instant, timestamp } from '#domain/codecs/time.ts';
import { operatorTenant } from '#domain/operator/operator-requests.ts';
import { newEvent } from '#domain/shared/event.ts';
import { failure } from '#domain/shared/failure.ts';

export const endApiKeySecrets = command({
  about: {
    name: 'end_api_key_secrets',
    summary: 'End the secrets of all keys that were issued before a time',
    description:
      'Use this after a restore: it also ends the secrets that were revoked or rotated after the backup. The keys stay, and a rotation gives them new secrets. The secret of the calling key ends too if it is older.',
    group: 'API keys',
    effect: { isDestructive: true, isIdempotent: true },
    example: { input: { time: '2026-01-05T09:30:00Z' }, output: { issuedBefore: '2026-01-05T09:30:00.000Z' } },
  },
  http: post('/v1/keys/revoke-before'),
  access: { scope: 'operations:write', subject: null },
  input: t.type({ time: instant }),
  output: t.type({ issuedBefore: timestamp }, 'EndedSecrets'),
  failures: [],
  entity: keyCutoff,
  creates: { id: () => allKeys, tenant: (_, { caller }) => operatorTenant(caller) },
  decide: ({ time: issuedBefore }, state, { time: now }) => {
    if (issuedBefore > now) {
      const errors = [{ pointer: '/time', message: `is ${issuedBefore}, which is in the future` }];
      return E.left(failure('invalid-input', 'The time must not be in the future.', { errors }));
    }
    const alreadyEnded = state.issuedBefore !== null && state.issuedBefore >= issuedBefore;
    return E.right(alreadyEnded ? [] : [newEvent('ApiKeySecretsEnded', { issuedBefore })]);
  },
  answer: ({ state, input }) => ({ issuedBefore: state.issuedBefore ?? input.time }),
  withoutRevision: true,
});
