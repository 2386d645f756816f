import type { Tenant } from './access.ts';

/** Who has caused an event: a key, or Switchyard itself at its first start. */
export interface Actor {
  /** The id of the key; `system` for the first start. */
  readonly keyId: string;
  readonly keyType: string;
  /** An id of the caller's own system, which is not checked. */
  readonly onBehalfOf?: string;
}

/** `$correlationId` and `$causationId` are KurrentDB's conventions. */
export interface EventMetadata extends Tenant {
  readonly $correlationId: string;
  readonly $causationId: string;
  readonly actor: Actor;
  readonly requestId: string;
  /** RFC 3339 UTC with milliseconds; never earlier than the stream's previous event. */
  readonly time: string;
  readonly schemaVersion: number;
  /** The command's `Idempotency-Key`: hash of API key, method, path and key, and hash of the body. */
  readonly idempotency?: { readonly key: string; readonly body: string };
  /** `hash` of the stream's previous event; null for the first. */
  readonly prevHash: string | null;
  /** See `hash-chain.ts`. */
  readonly hash: string;
}

export function newEvent<const Type extends string, Data>(type: Type, data: Data): { type: Type; data: Data } {
  return { type, data };
}
