import * as E from 'fp-ts/lib/Either.js';
import { apiKey } from '#domain/api-key/api-key.ts';
import type { ApiKeyEvents } from '#domain/api-key/events.ts';
import type { RecordedEventOf } from '#domain/shared/entity.ts';
import { newEvent } from '#domain/shared/event.ts';
import type { Process, ProcessTools } from '#process-engine/process.ts';
import { paginateAll } from '#read-store/paginate-all.ts';

type Event = RecordedEventOf<ApiKeyEvents>;

/**
 * Revokes the descendants of a key that was revoked with its descendants. Each descendant is revoked with its own, so
 * the whole tree follows event by event, also through keys that were already revoked alone. A key may be created or
 * rotated while its maker is being revoked. The reaction to the revocation finds keys that were made before it. The
 * reaction to a later creation finds that the maker is revoked.
 */
export const revokeDescendantKeys: Process = {
  name: 'revoke-descendant-keys',
  types: ['ApiKeyCreated', 'ApiKeyRotated', 'ApiKeyRevoked'],
  handles: (event) => {
    const { type, data } = event as unknown as Event;
    if (type === 'ApiKeyRevoked') return data.descendantKeyIds !== null;
    const byKeyId = type === 'ApiKeyCreated' ? data.createdByKeyId : data.rotatedByKeyId;
    return byKeyId !== null && byKeyId !== data.id;
  },
  handle: async (event, tools) => {
    const { type, data } = event as unknown as Event;
    if (type === 'ApiKeyRevoked') return revokeAll(data, tools);
    const byKeyId = type === 'ApiKeyCreated' ? data.createdByKeyId : data.rotatedByKeyId;
    if (byKeyId === null) return;
    const { state } = await tools.load(apiKey, byKeyId);
    if (state !== null && state.descendantsRevokedAt !== null) await revoke(data.id, tools);
  },
};

async function revokeAll({ id, descendantKeyIds }: ApiKeyEvents['ApiKeyRevoked'], tools: ProcessTools): Promise<void> {
  // The known keys come first, because the read model may have stopped.
  for (const descendantId of descendantKeyIds ?? []) await revoke(descendantId, tools);
  const documents = await tools.documentsUpToDate('api-key-origins');
  for await (const page of paginateAll<{ keyId: string }>(documents, 'api-key-origins', { byKeyId: id })) {
    for (const { value } of page) await revoke(value.keyId, tools);
  }
}

function revoke(id: string, { write }: ProcessTools): Promise<void> {
  return write({
    entity: apiKey,
    id,
    decide: ({ state }) => {
      const isDone = state === null || state.descendantsRevokedAt !== null;
      return E.right({ events: isDone ? [] : [newEvent('ApiKeyRevoked', { id, descendantKeyIds: [] })], tenant: null });
    },
  });
}
