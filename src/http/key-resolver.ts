import { LRUCache } from 'lru-cache';
import { hashOfSecret } from '#domain/api-key/secret.ts';
import type { Caller, KeyType, Tenant } from '#domain/tenancy.ts';
import type { KeyUsage } from '#read-store/key-usage.ts';
import type { ReadStore } from '#read-store/read-store.ts';
import type { JsonObject } from '#src/json.ts';

/** As much of the read models as resolving a key needs. */
interface SecretDocument {
  readonly keyId: string;
  readonly validUntil: string | null;
}
interface KeyDocument extends Tenant {
  readonly record: {
    readonly projectId: string;
    readonly organizationId: string;
    readonly keyType: KeyType;
    readonly scopes: ReadonlyArray<string>;
  };
}

interface Resolved {
  /** Null for a text that is no key: remembered too, so that guesses cost little. */
  readonly caller: Caller | null;
  /** In ms since 1970; null for a key that is not replaced. */
  readonly validUntil: number | null;
  /** Stops once the key's secrets may have changed. */
  readonly keyId: string | null;
}

const cachedKeys = 10_000;
/** How long a key revoked on another node may still work here. */
const freshForMilliseconds = 1_000;
const longestKey = 256;

/**
 * Tells who holds a presented key: by the SHA-256 of the text, which is what the read models have, so that no two
 * secrets are ever compared character by character.
 */
export class KeyResolver {
  readonly #documents: ReadStore;
  readonly #usage: KeyUsage;
  /** Asks for the time whenever it is asked: to remember the time for others it would set a timer, which takes longer. */
  readonly #cache = new LRUCache<string, Resolved>({ max: cachedKeys, ttl: freshForMilliseconds, ttlResolution: 0 });
  /** Keys revoked on this node: refused at once, however far the read models are. */
  readonly #revoked = new LRUCache<string, true>({ max: cachedKeys });
  /** When secrets replaced on this node end to work, by their SHA-256: not to be missed either. In ms since 1970. */
  readonly #replaced = new LRUCache<string, number>({ max: cachedKeys });

  constructor(documents: ReadStore, usage: KeyUsage) {
    this.#documents = documents;
    this.#usage = usage;
  }

  /** The holder of a key; null for what is no valid key. @throws Unavailable */
  resolve = async (presented: string): Promise<Caller | null> => {
    if (presented.length > longestKey) return null;
    const secretHash = hashOfSecret(presented);
    const { caller, validUntil: known, keyId } = this.#cache.get(secretHash) ?? (await this.#lookUp(secretHash));
    if (caller === null || keyId === null || this.#revoked.has(keyId)) return null;
    const validUntil = this.#replaced.get(secretHash) ?? known;
    const now = Date.now();
    if (validUntil !== null && validUntil <= now) return null;
    this.#usage.touch(keyId, now);
    return caller;
  };

  /** Forgets what it knows: a key was made, rotated or revoked. */
  changed({ type, data }: { readonly type: string; readonly data: JsonObject }): void {
    if (type === 'ApiKeyRevoked') this.#revoked.set(String(data.id), true);
    if (type === 'ApiKeyRotated')
      this.#replaced.set(String(data.previousSecretHash), Date.parse(String(data.previousValidUntil)));
    if (type.startsWith('ApiKey')) this.#cache.clear();
  }

  async #lookUp(secretHash: string): Promise<Resolved> {
    const secret = await this.#documents.get<SecretDocument>('api-key-secrets', secretHash);
    const key = secret && (await this.#documents.get<KeyDocument>('api-keys', secret.value.keyId));
    const resolved = secret && key ? holderOf(secret.value, key.id, key.value) : nobody;
    this.#cache.set(secretHash, resolved);
    return resolved;
  }
}

const nobody: Resolved = { caller: null, validUntil: null, keyId: null };

function holderOf({ validUntil }: SecretDocument, keyId: string, key: KeyDocument): Resolved {
  return { caller: callerOf(keyId, key), validUntil: validUntil === null ? null : Date.parse(validUntil), keyId };
}

function callerOf(keyId: string, { record, partnerId }: KeyDocument): Caller {
  const { keyType, projectId, organizationId, scopes } = record;
  return { keyId, keyType, projectId, organizationId, partnerId, scopes: new Set(scopes) };
}
