import type { AnyQuery } from '#application/queries/query.ts';
import { getAgentProfile } from './agent-profile/get-agent-profile.ts';
import { listAgentProfiles } from './agent-profile/list-agent-profiles.ts';
import { getApiKey } from './api-key/get-api-key.ts';
import { listApiKeys } from './api-key/list-api-keys.ts';
import { listAuditEntries } from './audit/list-audit-entries.ts';
import { getCustomer } from './customer/get-customer.ts';
import { listCustomers } from './customer/list-customers.ts';
import { getActivityDashboard } from './dashboard/get-activity-dashboard.ts';
import { getFlowsDashboard } from './dashboard/get-flows-dashboard.ts';
import { getGatewayDashboard } from './dashboard/get-gateway-dashboard.ts';
import { getInstancesDashboard } from './dashboard/get-instances-dashboard.ts';
import { getProjectionsDashboard } from './dashboard/get-projections-dashboard.ts';
import { getFlow } from './flow/get-flow.ts';
import { listFlows } from './flow/list-flows.ts';
import { diffFlowVersions } from './flow-version/diff-flow-versions.ts';
import { getFlowVersion } from './flow-version/get-flow-version.ts';
import { listFlowVersions } from './flow-version/list-flow-versions.ts';
import { gatewayQueries } from './gateway-table.ts';
import {
  getAgentProfileHistory,
  getApiKeyHistory,
  getFlowHistory,
  getInstanceHistory,
  getOrganizationHistory,
  getPhoneNumberHistory,
  getProjectHistory,
  getTemplateHistory,
  getWebhookEndpointHistory,
} from './histories.ts';
import { getInstance } from './instance/get-instance.ts';
import { listInstances } from './instance/list-instances.ts';
import { previewUpgrade } from './instance/preview-upgrade.ts';
import { getOrganization } from './organization/get-organization.ts';
import { listOrganizations } from './organization/list-organizations.ts';
import { getPhoneNumber } from './phone-number/get-phone-number.ts';
import { listPhoneNumbers } from './phone-number/list-phone-numbers.ts';
import { listProcesses } from './process/list-processes.ts';
import { getProject } from './project/get-project.ts';
import { getProjectResponses } from './project/get-project-responses.ts';
import { listProjects } from './project/list-projects.ts';
import { listProjections } from './projection/list-projections.ts';
import { withProofs } from './shared/get-history-proof.ts';
import { getTemplate } from './template/get-template.ts';
import { listTemplates } from './template/list-templates.ts';
import { diffTemplateVersions } from './template-version/diff-template-versions.ts';
import { getTemplateVersion } from './template-version/get-template-version.ts';
import { listTemplateVersions } from './template-version/list-template-versions.ts';
import { getUsage } from './usage/get-usage.ts';
import { getWebhookEndpoint } from './webhook-endpoint/get-webhook-endpoint.ts';
import { listWebhookDeliveries } from './webhook-endpoint/list-webhook-deliveries.ts';
import { listWebhookEndpoints } from './webhook-endpoint/list-webhook-endpoints.ts';

/** All queries, in the order in which documentation lists them. */
export const queries: ReadonlyArray<AnyQuery> = [
  ...withProofs([
    listFlows,
    getFlow,
    getFlowHistory,
    listFlowVersions,
    getFlowVersion,
    diffFlowVersions,
    listPhoneNumbers,
    getPhoneNumber,
    getPhoneNumberHistory,
    listAgentProfiles,
    getAgentProfile,
    getAgentProfileHistory,
    listTemplates,
    getTemplate,
    getTemplateHistory,
    listTemplateVersions,
    getTemplateVersion,
    diffTemplateVersions,
    listInstances,
    getInstance,
    getInstanceHistory,
    previewUpgrade,
    listProjects,
    getProject,
    getProjectHistory,
    getProjectResponses,
    listOrganizations,
    getOrganization,
    getOrganizationHistory,
    listCustomers,
    getCustomer,
    listApiKeys,
    getApiKey,
    getApiKeyHistory,
  ]),
  ...gatewayQueries,
  ...withProofs([
    listAuditEntries,
    listWebhookEndpoints,
    getWebhookEndpoint,
    getWebhookEndpointHistory,
    listWebhookDeliveries,
    getUsage,
    getActivityDashboard,
    getFlowsDashboard,
    getInstancesDashboard,
    getGatewayDashboard,
    getProjectionsDashboard,
    listProjections,
    listProcesses,
  ]),
];
