import { setImmediate as nextTurn } from 'node:timers/promises';
import { paginateAll } from '#read-store/paginate-all.ts';
import type { ReadStore } from '#read-store/read-store.ts';

/** The most keys visited in one turn of the event loop. */
const keysPerTurn = 50;
/** The most keys visited in total, including revoked ones. */
const maxVisitedKeys = 50_000;

/**
 * Finds the valid keys that descend from a key, by the read models: it or a descendant created or rotated them. The
 * nearest come first.
 * @throws UnavailableError
 */
export async function descendantKeysOf(
  keyId: string,
  documents: ReadStore,
  limit: number,
): Promise<ReadonlyArray<string>> {
  const visited = new Set([keyId]);
  const descendants: string[] = [];
  let looked = 0;
  // A set iterates in insertion order, including entries added during the loop.
  for (const byKeyId of visited) {
    looked += 1;
    if (looked % keysPerTurn === 0) await nextTurn();
    for await (const page of paginateAll<{ keyId: string }>(documents, 'api-key-origins', { byKeyId })) {
      for (const { value } of page) {
        if (visited.has(value.keyId)) continue;
        if (visited.size >= maxVisitedKeys) return descendants;
        visited.add(value.keyId);
        if ((await documents.get('api-keys', value.keyId)) !== null) descendants.push(value.keyId);
        if (descendants.length >= limit) return descendants;
      }
    }
  }
  return descendants;
}
