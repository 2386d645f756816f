import type { FullTenant } from './full-tenant.ts';

/** The resources that a read needs at their largest. */
export interface LargestRead {
  /** @returns the parameters in the path */
  readonly of: (tenant: FullTenant) => Promise<Readonly<Record<string, string>>>;
  /** @returns the parameters of the query */
  readonly query?: (tenant: FullTenant) => Promise<string> | string;
  /** The media type that it asks for; absent for JSON. */
  readonly accept?: string;
  /** `full`: the answer is a page, and more follow. `all`: it is a list that fits in one page. Absent for any other. */
  readonly page?: 'full' | 'all' | undefined;
}

type Make = () => Promise<string>;
type PickMake = (tenant: FullTenant) => Make;

/** A read of one resource. @param more further members of the read */
function one(parameter: string, pick: PickMake, more: Omit<LargestRead, 'of'> = {}): LargestRead {
  return { of: async (tenant) => ({ [parameter]: await pick(tenant)() }), ...more };
}

/** A list without a parameter. */
function all(pick: PickMake, page: LargestRead['page'] = 'full'): LargestRead {
  return {
    of: async (tenant) => {
      await pick(tenant)();
      return {};
    },
    page,
  };
}

const full = { page: 'full' } as const;
const alone: LargestRead = { of: async () => ({}) };

/** The history of a resource and its proof. @param more further members of the history's read */
const history = (kind: string, parameter: string, pick: PickMake, more = {}): Record<string, LargestRead> => ({
  [`get_${kind}_history`]: one(parameter, pick, more),
  [`get_${kind}_history_proof`]: {
    of: async (tenant) => {
      const id = await pick(tenant)();
      await tenant.signDigest();
      return { [parameter]: id };
    },
  },
});

/** The reads of the specification, by the operation's name. */
export const largestReads: Readonly<Record<string, LargestRead>> = {
  get_health: alone,
  get_response: one('responseId', (tenant) => tenant.largestResponse),
  list_response_input_items: { ...one('responseId', (tenant) => tenant.longestConversation), query: () => 'limit=100' },
  get_project_responses: one('projectId', (tenant) => tenant.projectOfResponses),
  introspect_key: alone,
  list_projections: alone,
  list_processes: alone,
  get_projections_dashboard: alone,
  get_activity_dashboard: { ...alone, query: () => 'days=90' },
  get_instances_dashboard: { ...alone, query: () => 'days=90' },
  get_gateway_dashboard: alone,
  get_usage: { ...alone, query: () => 'groupBy=hour,key,project,model,target' },
  get_flows_dashboard: { ...all((tenant) => tenant.projectOfFlows, 'all'), query: () => 'days=90&limit=1000' },
  list_models: alone,
  get_model: { of: async () => ({ model: 'sandbox' }) },
  list_targets: alone,
  list_calls: { ...all((tenant) => tenant.listOfCalls), query: () => 'limit=1000' },
  get_call: one('requestId', (tenant) => tenant.listOfCalls),
  list_audit_entries: all((tenant) => tenant.agentProfile),

  list_flows: one('projectId', (tenant) => tenant.projectOfFlows, full),
  get_flow: one('flowId', (tenant) => tenant.largestFlow),
  ...history('flow', 'flowId', (tenant) => tenant.flowOfVersions, full),
  list_flow_versions: one('flowId', (tenant) => tenant.flowOfVersions, full),
  get_flow_version: one('versionId', (tenant) => tenant.largestFlowVersion),
  diff_flow_versions: {
    of: async (tenant) => {
      return { versionId: await tenant.largestFlowVersion(), otherVersionId: await tenant.otherFlowVersion() };
    },
  },

  list_phone_numbers: one('projectId', (tenant) => tenant.projectOfPhoneNumbers, full),
  get_phone_number: one('phoneNumberId', (tenant) => tenant.phoneNumber),
  ...history('phone_number', 'phoneNumberId', (tenant) => tenant.phoneNumber),

  list_agent_profiles: one('projectId', (tenant) => tenant.projectOfAgentProfiles, full),
  get_agent_profile: one('agentProfileId', (tenant) => tenant.agentProfile),
  ...history('agent_profile', 'agentProfileId', (tenant) => tenant.agentProfile, full),

  list_templates: all((tenant) => tenant.listOfTemplates),
  get_template: one('templateId', (tenant) => tenant.templateOfVersions),
  ...history('template', 'templateId', (tenant) => tenant.templateOfVersions, full),
  list_template_versions: one('templateId', (tenant) => tenant.templateOfVersions, full),
  get_template_version: one('versionId', (tenant) => tenant.largestTemplateVersion),
  diff_template_versions: {
    of: async (tenant) => {
      return { versionId: await tenant.largestTemplateVersion(), otherVersionId: await tenant.otherTemplateVersion() };
    },
  },

  // An admin key sees the instances of all projects, and these are the newest.
  list_instances: { ...all((tenant) => tenant.listOfInstances), query: () => 'sort=-createdAt' },
  get_instance: one('instanceId', (tenant) => tenant.instance),
  preview_instance_upgrade: one('instanceId', (tenant) => tenant.instance, {
    query: async (tenant) => `targetTemplateVersionId=${await tenant.targetVersion()}`,
  }),
  ...history('instance', 'instanceId', (tenant) => tenant.instance),

  list_projects: all((tenant) => tenant.listOfProjects),
  get_project: one('projectId', (tenant) => tenant.project),
  ...history('project', 'projectId', (tenant) => tenant.project),
  list_organizations: all((tenant) => tenant.listOfOrganizations),
  get_organization: one('organizationId', (tenant) => tenant.organization),
  ...history('organization', 'organizationId', (tenant) => tenant.organization),
  list_customers: all((tenant) => tenant.listOfCustomers),
  get_customer: one('organizationId', (tenant) => tenant.customer),
  list_api_keys: one('projectId', (tenant) => tenant.projectOfKeys, full),
  get_api_key: one('keyId', (tenant) => tenant.apiKey),
  ...history('api_key', 'keyId', (tenant) => tenant.apiKey),

  list_files: all((tenant) => tenant.listOfFiles),
  get_file: one('file_id', (tenant) => tenant.largestFile),
  get_file_content: one('file_id', (tenant) => tenant.largestFile),
  ...history('file', 'file_id', (tenant) => tenant.largestFile),
  list_batches: { ...all((tenant) => tenant.listOfBatches), query: () => 'limit=10000' },
  get_batch: one('batch_id', (tenant) => tenant.batch),
  ...history('batch', 'batch_id', (tenant) => tenant.batch),
  list_stores: all((tenant) => tenant.listOfStores),
  get_store: one('store_id', (tenant) => tenant.store),
  ...history('store', 'store_id', (tenant) => tenant.store),
  list_store_files: one('store_id', (tenant) => tenant.storeOfFiles),
  get_store_file: {
    of: async (tenant) => ({ store_id: await tenant.store(), file_id: await tenant.fileInStore() }),
  },

  list_webhook_endpoints: all((tenant) => tenant.listOfWebhookEndpoints, 'all'),
  get_webhook_endpoint: one('webhookEndpointId', (tenant) => tenant.webhookEndpoint),
  list_webhook_deliveries: one('webhookEndpointId', (tenant) => tenant.webhookEndpoint),
  ...history('webhook_endpoint', 'webhookEndpointId', (tenant) => tenant.webhookEndpoint),
};

/** Another input of a read. */
interface FurtherRead {
  readonly operation: string;
  readonly what: string;
  readonly more: Partial<LargestRead>;
}

/** Further inputs of reads, which make more work: as of a time, and everything without pages. */
export const furtherReads: ReadonlyArray<FurtherRead> = [
  ...[
    'get_flow',
    'list_flow_versions',
    'get_flow_version',
    'get_phone_number',
    'get_agent_profile',
    'get_template',
    'list_template_versions',
    'get_template_version',
    'get_instance',
    'get_store',
    'get_webhook_endpoint',
  ].map((operation) => ({ operation, what: 'as of now', more: { query: () => `asOf=${new Date().toISOString()}` } })),
  ...['application/x-ndjson', 'text/csv'].map((accept) => ({
    operation: 'list_audit_entries',
    what: `as ${accept}`,
    more: { accept, page: undefined },
  })),
];
