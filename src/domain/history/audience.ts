import { type Audience, canAccess, isConcealedFor, type Tenant } from '#domain/shared/access.ts';
import type { ResourceKind } from './record.ts';

/**
 * True if the audience may see the event in the audit, a live feed or a webhook.
 * @param tenant of the event
 * @param kind of its resource
 */
export function isShownTo(audience: Audience, tenant: Tenant, kind: ResourceKind): boolean {
  if (!canAccess(audience, tenant)) return false;
  return !isOfTemplate(kind) || !isConcealedFor(audience.keyType, 'templates:read');
}

function isOfTemplate(kind: ResourceKind): boolean {
  return kind === 'template' || kind === 'template-version';
}
