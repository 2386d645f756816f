import type { AnyContentQuery } from '#application/queries/content-query.ts';
import type { AnyQuery } from '#application/queries/query.ts';
import { getAgentProfile } from './agent-profile/get-agent-profile.ts';
import { listAgentProfiles } from './agent-profile/list-agent-profiles.ts';
import { getApiKey } from './api-key/get-api-key.ts';
import { introspectKey } from './api-key/introspect-key.ts';
import { listApiKeys } from './api-key/list-api-keys.ts';
import { listAuditEntries } from './audit/list-audit-entries.ts';
import { getBatch } from './batch/get-batch.ts';
import { listBatches } from './batch/list-batches.ts';
import { getCustomer } from './customer/get-customer.ts';
import { listCustomers } from './customer/list-customers.ts';
import { getActivityDashboard } from './dashboard/get-activity-dashboard.ts';
import { getFlowsDashboard } from './dashboard/get-flows-dashboard.ts';
import { getGatewayDashboard } from './dashboard/get-gateway-dashboard.ts';
import { getInstancesDashboard } from './dashboard/get-instances-dashboard.ts';
import { getProjectionsDashboard } from './dashboard/get-projections-dashboard.ts';
import { getFile } from './file/get-file.ts';
import { getFileContent } from './file/get-file-content.ts';
import { listFiles } from './file/list-files.ts';
import { getFlow } from './flow/get-flow.ts';
import { listFlows } from './flow/list-flows.ts';
import { diffFlowVersions } from './flow-version/diff-flow-versions.ts';
import { getFlowVersion } from './flow-version/get-flow-version.ts';
import { listFlowVersions } from './flow-version/list-flow-versions.ts';
import {
  getAgentProfileHistory,
  getApiKeyHistory,
  getBatchHistory,
  getFileHistory,
  getFlowHistory,
  getInstanceHistory,
  getOrganizationHistory,
  getPhoneNumberHistory,
  getProjectHistory,
  getStoreHistory,
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
import { listProjects } from './project/list-projects.ts';
import { listProjections } from './projection/list-projections.ts';
import { getHistoryProof } from './shared/get-history-proof.ts';
import { getStore } from './store/get-store.ts';
import { getStoreFile } from './store/get-store-file.ts';
import { listStoreFiles } from './store/list-store-files.ts';
import { listStores } from './store/list-stores.ts';
import { getTemplate } from './template/get-template.ts';
import { listTemplates } from './template/list-templates.ts';
import { diffTemplateVersions } from './template-version/diff-template-versions.ts';
import { getTemplateVersion } from './template-version/get-template-version.ts';
import { listTemplateVersions } from './template-version/list-template-versions.ts';
import { getUsage } from './usage/get-usage.ts';
import { getWebhookEndpoint } from './webhook-endpoint/get-webhook-endpoint.ts';
import { listWebhookDeliveries } from './webhook-endpoint/list-webhook-deliveries.ts';
import { listWebhookEndpoints } from './webhook-endpoint/list-webhook-endpoints.ts';

const declared: ReadonlyArray<AnyQuery> = [
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
  listOrganizations,
  getOrganization,
  getOrganizationHistory,
  listCustomers,
  getCustomer,
  listApiKeys,
  getApiKey,
  getApiKeyHistory,
  introspectKey,
  listFiles,
  getFile,
  getFileHistory,
  listBatches,
  getBatch,
  getBatchHistory,
  listStores,
  getStore,
  getStoreHistory,
  listStoreFiles,
  getStoreFile,
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
];

/** Every query, in the order in which documentation lists them. Each history is followed by its proof. */
export const queries: ReadonlyArray<AnyQuery> = declared.flatMap((query) =>
  query.http.path.endsWith('/history') ? [query, getHistoryProof(query)] : [query],
);

/** Every query whose answer is bytes. */
export const contentQueries: ReadonlyArray<AnyContentQuery> = [getFileContent];
