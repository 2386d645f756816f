import type { AnyProjection } from '#projection-engine/projection.ts';
import { agentProfiles } from './agent-profiles.ts';
import { apiKeyOrigins } from './api-key-origins.ts';
import { apiKeySecrets } from './api-key-secrets.ts';
import { apiKeys } from './api-keys.ts';
import { customers } from './customers.ts';
import { flowVersions } from './flow-versions.ts';
import { flows } from './flows.ts';
import { instances } from './instances.ts';
import { organizations } from './organizations.ts';
import { phoneNumbers } from './phone-numbers.ts';
import { projects } from './projects.ts';
import { stores } from './stores.ts';
import { templateVersions } from './template-versions.ts';
import { templates } from './templates.ts';

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
  stores,
  templates,
  templateVersions,
  instances,
];
