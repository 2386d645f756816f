import { organizationHistory } from '#domain/organization/history.ts';
import { getHistory } from '#queries/shared/get-history.ts';

export const getOrganizationHistory = getHistory({
  name: 'get_organization_history',
  summary: 'Read the history of an organization',
  group: 'Organizations',
  path: '/v1/organizations/:organizationId/history',
  scope: 'operations:write',
  parameter: 'organizationId',
  notFound: 'organization-not-found',
  history: organizationHistory,
});
