import * as E from 'fp-ts/lib/Either.js';
import { apiKey } from '#domain/api-key/api-key.ts';
import type { ApiKeyEvents } from '#domain/api-key/events.ts';
import type { RecordedEventOf } from '#domain/shared/entity.ts';
import { newEvent } from '#domain/shared/event.ts';
import { paginateAll } from '#process-engine/paginate-all.ts';
import type { Process, ProcessTools } from '#process-engine/process.ts';

type Event = RecordedEventOf<ApiKeyEvents>;

/**
 * No descendant of a key works for long once it was revoked with its descendants. Each descendant is revoked with its
 * own, so that the tree is walked event by event, through keys that were revoked alone before, too. A key may be made or
 * rotated while its maker is revoked: the maker's end finds what was made before it, what is made after it finds the
 * maker's end.
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
  // Those that are known first: the read model may stand still.
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
