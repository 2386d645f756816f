import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { command } from '#application/commands/command.ts';
import { remove } from '#application/operations/operation.ts';
import { apiKey, apiKeyRecord } from '#domain/api-key/api-key.ts';
import type { ApiKeyEvents } from '#domain/api-key/events.ts';
import { checkMayManage } from '#domain/api-key/may-manage.ts';
import { ApiKeyRecord } from '#domain/api-key/record.ts';
import { cuid } from '#domain/codecs/id.ts';
import { newEvent } from '#domain/shared/event.ts';
import { examples } from '#domain/shared/examples.ts';
import { flag } from '#shared/codecs/choice.ts';
import { text } from '#shared/codecs/text.ts';

/** Ids of descendants in one event and one answer at most. */
const maxListedKeys = 5_000;

const Output = t.intersection(
  [
    ApiKeyRecord,
    t.partial({
      /** With `descendants=true`: the key itself and those that are revoked with it. */
      revokedKeyIds: t.readonlyArray(text()),
      /** There may be more of them than are listed. */
      revokedKeyIdsOmitted: t.boolean,
    }),
  ],
  'RevokedApiKey',
);

export const revokeApiKey = command({
  name: 'revoke_api_key',
  summary: 'Revoke an API key for good',
  description: `With \`descendants=true\` every key that it, or one that descends from it, made or rotated is revoked too, also where the key itself was revoked before. \`revokedKeyIds\` lists those known by now (${maxListedKeys} at most, else \`revokedKeyIdsOmitted\` is true); those made meanwhile follow.`,
  group: 'API keys',
  http: remove('/v1/keys/:keyId'),
  scope: 'keys:write',
  input: t.intersection([t.type({ keyId: cuid }), t.partial({ descendants: flag })]),
  output: Output,
  failures: ['key-not-found'],
  example: { output: examples.apiKey },
  entity: apiKey,
  subject: { entity: apiKey, parameter: 'keyId' },
  isAnswerable: (state, { descendants = false }) =>
    state !== null && (descendants ? state.descendantsRevokedAt === null : !state.revoked),
  loadRelated: async ({ keyId, descendants = false }, { lookup }) =>
    descendants ? await lookup.descendantKeys(keyId, maxListedKeys) : null,
  decide: ({ keyId }, state, { caller, related: descendantKeyIds }) => {
    const refusal = checkMayManage(caller, state);
    return refusal === null ? E.right([newEvent('ApiKeyRevoked', { id: keyId, descendantKeyIds })]) : E.left(refusal);
  },
  answer: async ({ input: { keyId, descendants = false }, state, lookup, dataAt }) => {
    const record = { ...apiKeyRecord(state), lastUsedAt: await lookup.keyLastUsed(keyId) };
    const revision = state?.descendantsRevokedAt ?? null;
    if (!descendants || revision === null) return record;
    const { descendantKeyIds } = (await dataAt(revision)) as unknown as ApiKeyEvents['ApiKeyRevoked'];
    const known = descendantKeyIds ?? [];
    const omitted = known.length >= maxListedKeys ? { revokedKeyIdsOmitted: true } : {};
    return { ...record, revokedKeyIds: [keyId, ...known], ...omitted };
  },
});
