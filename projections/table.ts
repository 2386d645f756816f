import type { AnyProjection } from '#projection-engine/projection.ts';
import { apiKeyOrigins } from './access/api-key-origins.ts';
import { apiKeySecrets } from './access/api-key-secrets.ts';
import { apiKeys } from './access/api-keys.ts';
import { customers } from './access/customers.ts';
import { organizations } from './access/organizations.ts';
import { projects } from './access/projects.ts';
import { agentProfileFlows } from './agent-profile-flows.ts';
import { agentProfiles } from './agent-profiles.ts';
import { audit } from './audit.ts';
import { activity } from './figures/activity.ts';
import { flowFigures } from './figures/flow-figures.ts';
import { instanceFigures } from './figures/instance-figures.ts';
import { batches } from './files/batches.ts';
import { fileSpace } from './files/file-space.ts';
import { files } from './files/files.ts';
import { storeFiles } from './files/store-files.ts';
import { stores } from './files/stores.ts';
import { flowVersions } from './flow-versions.ts';
import { flows } from './flows.ts';
import { instances } from './instances.ts';
import { phoneNumbers } from './phone-numbers.ts';
import { templateVersions } from './template-versions.ts';
import { templates } from './templates.ts';
import { usageByDay, usageByHour, usageByMinute, usageByQuarterHour } from './usage/usage-by-period.ts';
import { webhookEndpoints } from './webhook-endpoints.ts';

export const projections: ReadonlyArray<AnyProjection> = [
  organizations,
  customers,
  projects,
  apiKeys,
  apiKeySecrets,
  apiKeyOrigins,
  flows,
  flowVersions,
  phoneNumbers,
  agentProfiles,
  agentProfileFlows,
  stores,
  storeFiles,
  files,
  batches,
  fileSpace,
  templates,
  templateVersions,
  instances,
  webhookEndpoints,
  audit,
  activity,
  flowFigures,
  instanceFigures,
  usageByMinute,
  usageByQuarterHour,
  usageByHour,
  usageByDay,
];
