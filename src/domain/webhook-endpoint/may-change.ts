import { type Failure, failure } from '#domain/shared/failure.ts';
import type { Caller } from '#domain/shared/tenancy.ts';
import type { WebhookEndpointRecord } from './record.ts';

const rank = { project: 0, organization: 1, partner: 2, admin: 3 } as const;

/**
 * Why a key may not change an endpoint: it has no access to the endpoint's events. Null if it may.
 */
export function checkMayChange(
  { keyType }: Pick<Caller, 'keyType'>,
  { audience }: Pick<WebhookEndpointRecord, 'audience'>,
): Failure | null {
  if (rank[keyType] >= rank[audience]) return null;
  return failure(
    'key-type-not-allowed',
    `The endpoint receives what a ${audience} key has access to, so no ${keyType} key can use it.`,
  );
}
