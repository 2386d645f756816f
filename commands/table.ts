import type { AnyCommand } from '#application/commands/command.ts';
import { createAgentProfile } from './agent-profile/create-agent-profile.ts';
import { deleteAgentProfile } from './agent-profile/delete-agent-profile.ts';
import { replaceAgentProfile } from './agent-profile/replace-agent-profile.ts';
import { createApiKey } from './api-key/create-api-key.ts';
import { endApiKeySecrets } from './api-key/end-api-key-secrets.ts';
import { revokeApiKey } from './api-key/revoke-api-key.ts';
import { rotateApiKey } from './api-key/rotate-api-key.ts';
import { createCustomer } from './customer/create-customer.ts';
import { erasePersonalData } from './customer/erase-personal-data.ts';
import { skipEvent } from './event/skip-event.ts';
import { changeFlowTier } from './flow/change-flow-tier.ts';
import { createFlow } from './flow/create-flow.ts';
import { deleteFlow } from './flow/delete-flow.ts';
import { updateFlow } from './flow/update-flow.ts';
import { activateFlowVersion } from './flow-version/activate-flow-version.ts';
import { createFlowVersion } from './flow-version/create-flow-version.ts';
import { deleteFlowVersion } from './flow-version/delete-flow-version.ts';
import { restoreFlowVersion } from './flow-version/restore-flow-version.ts';
import { tagFlowVersion } from './flow-version/tag-flow-version.ts';
import { gatewayCommands } from './gateway-table.ts';
import { createInstance } from './instance/create-instance.ts';
import { deleteInstance } from './instance/delete-instance.ts';
import { retryInstance } from './instance/retry-instance.ts';
import { setInstancePhoneNumber } from './instance/set-instance-phone-number.ts';
import { upgradeInstance } from './instance/upgrade-instance.ts';
import { rebuildProjection, retryProcess, retryProjection, skipProcessEvent, skipProjectionEvent } from './operator.ts';
import { createOrganization } from './organization/create-organization.ts';
import { createPhoneNumber } from './phone-number/create-phone-number.ts';
import { deletePhoneNumber } from './phone-number/delete-phone-number.ts';
import { setPhoneNumberFlow } from './phone-number/set-phone-number-flow.ts';
import { updatePhoneNumber } from './phone-number/update-phone-number.ts';
import { createProject } from './project/create-project.ts';
import { eraseProjectResponses } from './project/erase-project-responses.ts';
import { updateProject } from './project/update-project.ts';
import { archiveTemplate } from './template/archive-template.ts';
import { createTemplate } from './template/create-template.ts';
import { updateTemplate } from './template/update-template.ts';
import { createTemplateVersion } from './template-version/create-template-version.ts';
import { publishTemplateVersion } from './template-version/publish-template-version.ts';
import { restoreTemplateVersion } from './template-version/restore-template-version.ts';
import { createWebhookEndpoint } from './webhook-endpoint/create-webhook-endpoint.ts';
import { deleteWebhookEndpoint } from './webhook-endpoint/delete-webhook-endpoint.ts';
import { replayWebhookEndpoint } from './webhook-endpoint/replay-webhook-endpoint.ts';
import { rotateWebhookSecret } from './webhook-endpoint/rotate-webhook-secret.ts';
import { testWebhookEndpoint } from './webhook-endpoint/test-webhook-endpoint.ts';
import { updateWebhookEndpoint } from './webhook-endpoint/update-webhook-endpoint.ts';

/** All commands, in the order in which documentation lists them. */
export const commands: ReadonlyArray<AnyCommand> = [
  createFlow,
  updateFlow,
  changeFlowTier,
  deleteFlow,
  createFlowVersion,
  tagFlowVersion,
  activateFlowVersion,
  deleteFlowVersion,
  restoreFlowVersion,
  createPhoneNumber,
  updatePhoneNumber,
  setPhoneNumberFlow,
  deletePhoneNumber,
  createAgentProfile,
  replaceAgentProfile,
  deleteAgentProfile,
  createTemplate,
  updateTemplate,
  archiveTemplate,
  createTemplateVersion,
  publishTemplateVersion,
  restoreTemplateVersion,
  createInstance,
  upgradeInstance,
  retryInstance,
  setInstancePhoneNumber,
  deleteInstance,
  createProject,
  updateProject,
  eraseProjectResponses,
  createOrganization,
  createCustomer,
  erasePersonalData,
  createApiKey,
  rotateApiKey,
  revokeApiKey,
  endApiKeySecrets,
  ...gatewayCommands,
  createWebhookEndpoint,
  updateWebhookEndpoint,
  rotateWebhookSecret,
  testWebhookEndpoint,
  replayWebhookEndpoint,
  deleteWebhookEndpoint,
  rebuildProjection,
  retryProjection,
  skipProjectionEvent,
  retryProcess,
  skipProcessEvent,
  skipEvent,
];
