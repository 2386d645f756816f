import type { ApiKeyEvents } from '#domain/api-key/events.ts';
import { storedFormOfKey } from '#domain/api-key/secret.ts';
import { newEvent } from '#domain/shared/event.ts';
import { ids } from './tenants.ts';

/** The first secret of the example key. */
export const firstSecret = `sy_live_${'F1r'.repeat(14)}s`;

export const organizationCreated = (id: string = ids.partner, partner = true) =>
  newEvent('OrganizationCreated', { id, name: 'Northwind Voice', partner });

/** The sealed texts of a customer, as events hold them. */
export const sealed = { name: { ciphertext: 'sealed-name' }, clientEmail: { ciphertext: 'sealed-address' } } as const;

export const customerCreated = (id: string = ids.customer, projectId: string = ids.customerProject) =>
  newEvent('CustomerCreated', { id, projectId, ...sealed });

export const personalDataErased = (id: string = ids.customer) => newEvent('PersonalDataErased', { id });

export const projectCreated = (id: string = ids.project, organizationId: string = ids.partner) =>
  newEvent('ProjectCreated', { id, organizationId, name: 'Front desk' });

export const apiKeyCreated = (change: Partial<ApiKeyEvents['ApiKeyCreated']> = {}) =>
  newEvent('ApiKeyCreated', {
    id: ids.key,
    projectId: ids.project,
    organizationId: ids.partner,
    name: 'Website',
    keyType: 'project' as const,
    scopes: ['flows:read'],
    ...storedFormOfKey(firstSecret),
    createdByKeyId: null,
    expiresAt: null,
    ...change,
  } satisfies ApiKeyEvents['ApiKeyCreated']);

/** A rotation by no key, without an overlap. @param change members that differ */
export const apiKeyRotated = (secret: string, change: Partial<ApiKeyEvents['ApiKeyRotated']> = {}) =>
  newEvent('ApiKeyRotated', {
    id: ids.key,
    ...storedFormOfKey(secret),
    previousSecretHash: storedFormOfKey(firstSecret).secretHash,
    previousValidUntil: '2026-01-01T00:00:00.000Z',
    rotatedByKeyId: null,
    expiresAt: null,
    ...change,
  } satisfies ApiKeyEvents['ApiKeyRotated']);

export const apiKeyRevoked = (descendantKeyIds: ReadonlyArray<string> | null = null, id: string = ids.key) =>
  newEvent('ApiKeyRevoked', { id, descendantKeyIds });
