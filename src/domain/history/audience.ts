import { isConcealedFor } from '#domain/shared/scope.ts';
import { type Audience, canAccess, type Tenant } from '#domain/shared/tenancy.ts';
import type { ResourceKind } from './listed-event.ts';

/**
 * Whether someone is shown an event, in the audit, a live feed or a webhook.
 * @param tenant whose the event is
 * @param kind of the resource that it is about
 */
export function isShownTo(audience: Audience, tenant: Tenant, kind: ResourceKind): boolean {
  if (!canAccess(audience, tenant)) return false;
  return !isOfTemplate(kind) || !isConcealedFor(audience.keyType, 'templates:read');
}

function isOfTemplate(kind: ResourceKind): boolean {
  return kind === 'template' || kind === 'template-version';
}
