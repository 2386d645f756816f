import type { AnyProjection } from '#projection-engine/projection.ts';
import { agentProfileFlows } from './agent-profile-flows.ts';
import { agentProfiles } from './agent-profiles.ts';
import { apiKeyOrigins } from './api-key-origins.ts';
import { apiKeySecrets } from './api-key-secrets.ts';
import { apiKeys } from './api-keys.ts';
import { audit } from './audit.ts';
import { batches } from './batches.ts';
import { customers } from './customers.ts';
import { activity } from './figures/activity.ts';
import { flowFigures } from './figures/flow-figures.ts';
import { instanceFigures } from './figures/instance-figures.ts';
import { fileSpace } from './file-space.ts';
import { files } from './files.ts';
import { flowVersions } from './flow-versions.ts';
import { flows } from './flows.ts';
import { instances } from './instances.ts';
import { organizations } from './organizations.ts';
import { phoneNumbers } from './phone-numbers.ts';
import { projects } from './projects.ts';
import { storeFiles } from './store-files.ts';
import { stores } from './stores.ts';
import { templateVersions } from './template-versions.ts';
import { templates } from './templates.ts';
import { usageByDay, usageByHour, usageByMinute, usageByQuarterHour } from './usage/usage-by-period.ts';
import { webhookEndpoints } from './webhook-endpoints.ts';

/** Every read model there is. */
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
