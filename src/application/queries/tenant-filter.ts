import type { Audience } from '#domain/shared/access.ts';
import type { Where } from '#read-store/read-store.ts';

/** Returns the filter for the documents that a key has access to, for an index: see `canAccess`. */
export function tenantFilter({ keyType, organizationId, projectId }: Audience): Where {
  switch (keyType) {
    case 'admin':
      return {};
    case 'partner':
      return { partnerId: organizationId };
    case 'organization':
      return { organizationId };
    case 'project':
      return { projectId };
  }
}
