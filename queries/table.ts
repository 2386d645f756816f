import type { AnyQuery } from '#application/queries/query.ts';
import { getAgentProfile } from './agent-profile/get-agent-profile.ts';
import { listAgentProfiles } from './agent-profile/list-agent-profiles.ts';
import { introspectKey } from './api-key/introspect-key.ts';
import { listApiKeys } from './api-key/list-api-keys.ts';
import { getCustomer } from './customer/get-customer.ts';
import { listCustomers } from './customer/list-customers.ts';
import { getFlow } from './flow/get-flow.ts';
import { listFlows } from './flow/list-flows.ts';
import { getFlowVersion } from './flow-version/get-flow-version.ts';
import { listFlowVersions } from './flow-version/list-flow-versions.ts';
import { getInstance } from './instance/get-instance.ts';
import { listInstances } from './instance/list-instances.ts';
import { previewUpgrade } from './instance/preview-upgrade.ts';
import { listOrganizations } from './organization/list-organizations.ts';
import { getPhoneNumber } from './phone-number/get-phone-number.ts';
import { listPhoneNumbers } from './phone-number/list-phone-numbers.ts';
import { listProcesses } from './process/list-processes.ts';
import { getProject } from './project/get-project.ts';
import { listProjects } from './project/list-projects.ts';
import { listProjections } from './projection/list-projections.ts';
import { getStore } from './store/get-store.ts';
import { listStores } from './store/list-stores.ts';
import { getTemplate } from './template/get-template.ts';
import { listTemplates } from './template/list-templates.ts';
import { getTemplateVersion } from './template-version/get-template-version.ts';
import { listTemplateVersions } from './template-version/list-template-versions.ts';

/** Every query there is, in the order in which documentation lists them. */
export const queries: ReadonlyArray<AnyQuery> = [
  listFlows,
  getFlow,
  listFlowVersions,
  getFlowVersion,
  listPhoneNumbers,
  getPhoneNumber,
  listAgentProfiles,
  getAgentProfile,
  listTemplates,
  getTemplate,
  listTemplateVersions,
  getTemplateVersion,
  listInstances,
  getInstance,
  previewUpgrade,
  listProjects,
  getProject,
  listOrganizations,
  listCustomers,
  getCustomer,
  listApiKeys,
  introspectKey,
  listStores,
  getStore,
  listProjections,
  listProcesses,
];
