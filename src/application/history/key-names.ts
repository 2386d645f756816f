import type { ApiKeyState } from '#domain/api-key/api-key.ts';
import { countedCache } from '#shared/memory/counted-cache.ts';

/** The name of a key; null for an id without a key, like `system`. @throws UnavailableError */
export type FindKeyName = (keyId: string) => Promise<string | null>;

const maxNames = 5_000;
/** An id without a key is not looked up again for this long: it may be a key that is just being made. */
const absentMs = 60_000;

/** The names of keys, read from the first event of each. A key keeps its name, so the names are remembered. */
export class KeyNames {
  readonly #firstState: (keyId: string) => Promise<ApiKeyState>;
  readonly #names = countedCache<{ readonly name: string | null }>(maxNames);

  /** @param firstState the state after the key's first event; null without one */
  constructor(firstState: (keyId: string) => Promise<ApiKeyState>) {
    this.#firstState = firstState;
  }

  readonly find: FindKeyName = async (keyId) => {
    const known = this.#names.get(keyId);
    if (known !== undefined) return known.name;
    const name = (await this.#firstState(keyId))?.record.name ?? null;
    this.#names.set(keyId, { name }, name === null ? { ttl: absentMs } : {});
    return name;
  };
}
