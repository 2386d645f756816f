import type { Audience } from '#domain/shared/tenancy.ts';
import type { Where } from '#read-store/read-store.ts';

/** The documents of a collection that a key reaches, as an index finds them: see `reaches`. */
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
