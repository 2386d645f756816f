import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { command } from '#application/commands/command.ts';
import { remove } from '#application/operations/operation.ts';
import { apiKey, apiKeyRecord, checkMayManage } from '#domain/api-key/api-key.ts';
import type { ApiKeyEvents } from '#domain/api-key/events.ts';
import { ApiKeyRecord } from '#domain/api-key/record.ts';
import { cuid } from '#domain/codecs/id.ts';
import { newEvent } from '#domain/shared/event.ts';
import { flag } from '#shared/codecs/choice.ts';
import { text } from '#shared/codecs/text.ts';

/** Maximum number of revoked keys in one event and one answer. */
const maxListedKeys = 5_000;

const Output = t.intersection(
  [
    ApiKeyRecord,
    t.partial({
      /** Only with `descendants=true`: the key and the keys that are revoked with it. */
      revokedKeyIds: t.readonlyArray(text()),
      /** There may be more keys than the list has. */
      revokedKeyIdsOmitted: t.boolean,
    }),
  ],
  'RevokedApiKey',
);

export const revokeApiKey = command({
  about: {
    name: 'revoke_api_key',
    summary: 'Revoke an API key permanently',
    description: `With \`descendants=true\`, every key that this key or its descendants created or rotated is revoked too, even if this key was revoked before. \`revokedKeyIds\` lists the keys known now, at most ${maxListedKeys}; if there may be more, \`revokedKeyIdsOmitted\` is true. Keys that are created during the request are revoked soon after it.`,
    group: 'API keys',
    example: { output: ApiKeyRecord.example },
  },
  http: remove('/v1/keys/:keyId'),
  access: { scope: 'keys:write', subject: { entity: apiKey, parameter: 'keyId' } },
  input: t.intersection([t.type({ keyId: cuid }), t.partial({ descendants: flag })]),
  output: Output,
  failures: ['key-not-found'],
  entity: apiKey,
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
