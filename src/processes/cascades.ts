import { apiKey } from '#domain/api-key/api-key.ts';
import { file } from '#domain/file/file.ts';
import { flow } from '#domain/flow/flow.ts';
import { phoneNumber } from '#domain/phone-number/phone-number.ts';
import { newEvent } from '#domain/shared/event.ts';
import { store, storeFileRemoved } from '#domain/store/store.ts';
import { webhookEndpoint } from '#domain/webhook-endpoint/webhook-endpoint.ts';
import { cascade } from '#process-engine/cascade.ts';

export const detachPhoneNumbers = cascade({
  name: 'detach-phone-numbers',
  parent: flow,
  removed: 'FlowDeleted',
  isGone: (state) => state === null || state.deleted,
  dependent: phoneNumber,
  listed: { collection: 'phone-numbers', by: 'flowId' },
  attached: { PhoneNumberCreated: ({ flowId }) => flowId, PhoneNumberFlowSet: ({ flowId }) => flowId },
  detach: (id, flowId, state) => {
    const isAttached = phoneNumber.isLive(state, id) && state !== 'abandoned' && state?.record.flowId === flowId;
    return isAttached ? [newEvent('PhoneNumberFlowSet', { id, flowId: null, reason: 'flow-deleted' as const })] : [];
  },
});

/** Disables the endpoints of a key that is revoked with its descendants. */
export const disableWebhookEndpoints = cascade({
  name: 'disable-webhook-endpoints',
  parent: apiKey,
  removed: 'ApiKeyRevoked',
  detaches: ({ descendantKeyIds }) => descendantKeyIds !== null,
  isGone: (state) => state !== null && state.descendantsRevokedAt !== null,
  dependent: webhookEndpoint,
  listed: { collection: 'webhook-endpoints', by: 'createdByKeyId' },
  attached: { WebhookEndpointCreated: ({ createdByKeyId }) => createdByKeyId },
  detach: (id, _, state) => {
    const isDone = state === null || state.deleted || state.record.disabledReason === 'key-revoked';
    return isDone ? [] : [newEvent('WebhookEndpointDisabled', { id, reason: 'key-revoked' as const })];
  },
});

export const removeStoreFiles = cascade({
  name: 'remove-store-files',
  parent: file,
  removed: 'FileDeleted',
  isGone: (state) => state === null || state.deleted,
  dependent: store,
  listed: { collection: 'store-files', by: 'fileId', member: 'storeId' },
  attached: { StoreFileAdded: ({ fileId }) => fileId },
  detach: (id, fileId, state) => storeFileRemoved({ id, fileId, reason: 'file-deleted' }, state),
});

/**
 * Each descendant is revoked with its own, so the whole tree follows event by event, also through keys that were
 * already revoked alone.
 */
export const revokeDescendantKeys = cascade({
  name: 'revoke-descendant-keys',
  parent: apiKey,
  removed: 'ApiKeyRevoked',
  detaches: ({ descendantKeyIds }) => descendantKeyIds !== null,
  known: ({ descendantKeyIds }) => descendantKeyIds ?? [],
  isGone: (state) => state !== null && state.descendantsRevokedAt !== null,
  dependent: apiKey,
  listed: { collection: 'api-key-origins', by: 'byKeyId', member: 'keyId' },
  attached: {
    ApiKeyCreated: ({ id, createdByKeyId }) => (createdByKeyId === id ? null : createdByKeyId),
    ApiKeyRotated: ({ id, rotatedByKeyId }) => (rotatedByKeyId === id ? null : rotatedByKeyId),
  },
  detach: (id, _, state) => {
    const isDone = state === null || state.descendantsRevokedAt !== null;
    return isDone ? [] : [newEvent('ApiKeyRevoked', { id, descendantKeyIds: [] })];
  },
});
