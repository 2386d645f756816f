import { projectAgentProfiles } from '#domain/agent-profile/agent-profile.ts';
import { apiKey } from '#domain/api-key/api-key.ts';
import { file } from '#domain/file/file.ts';
import { flow } from '#domain/flow/flow.ts';
import { instance, pendingOperation } from '#domain/instance/instance.ts';
import { phoneNumber } from '#domain/phone-number/phone-number.ts';
import { project } from '#domain/project/project.ts';
import { store } from '#domain/store/store.ts';
import { webhookEndpoint } from '#domain/webhook-endpoint/webhook-endpoint.ts';
import type { RecordedEvent } from '#event-store/event-store.ts';
import { clock } from '#shared/clock.ts';
import type { SharedStores } from '../surroundings.ts';
import type { WorldLog } from './world-log.ts';

/** Finds what the processes have left undone. */
export function findUnfinished(log: WorldLog, { blobs }: Pick<SharedStores, 'blobs'>): ReadonlyArray<string> {
  return [
    ...attachments(log),
    ...keysOfRevokedKeys(log),
    ...files(log, new Set(blobs.files.keys())),
    ...batches(log, blobs.files),
    ...instances(log),
    ...customers(log),
  ];
}

function* attachments(log: WorldLog): Iterable<string> {
  const isFlowGone = (id: string) => log.state(flow, id)?.deleted !== false;
  for (const id of log.idsOf('PhoneNumberCreated')) {
    const state = log.state(phoneNumber, id);
    const flowId = state === null || state === 'abandoned' ? null : state.record.flowId;
    if (flowId !== null && isFlowGone(flowId)) yield `the number ${id} is attached to a deleted flow`;
  }
  for (const id of log.idsOf('FlowCreated')) {
    const state = log.state(flow, id);
    const profileId = state === null || state.deleted ? null : state.record.agentProfileId;
    if (profileId !== null && !projectAgentProfiles.isLive(log.state(projectAgentProfiles, profileId), profileId))
      yield `the flow ${id} has a deleted agent profile`;
  }
}

function* keysOfRevokedKeys(log: WorldLog): Iterable<string> {
  const isRevokedWithAll = (id: unknown) =>
    id !== null && (log.state(apiKey, String(id))?.descendantsRevokedAt ?? null) !== null;
  for (const { data } of log.of('ApiKeyCreated'))
    if (isRevokedWithAll(data.createdByKeyId) && !isRevokedWithAll(data.id))
      yield `the key ${data.id}, which a revoked key has created, is valid`;
  for (const { data } of log.of('WebhookEndpointCreated')) {
    const state = log.state(webhookEndpoint, String(data.id));
    const isOver = state === null || state.deleted || state.record.disabledReason === 'key-revoked';
    if (isRevokedWithAll(data.createdByKeyId) && !isOver) yield `the endpoint ${data.id} of a revoked key is enabled`;
  }
}

function* files(log: WorldLog, blobs: ReadonlySet<string>): Iterable<string> {
  for (const { data } of log.of('FileCreated')) {
    const id = String(data.id);
    const state = log.state(file, id);
    const isGone = state === null || state.deleted;
    const hasContent = blobs.has(String(data.blobId));
    if (isGone && hasContent) yield `the content of the deleted file ${id} is left`;
    if (!isGone && !hasContent) yield `the content of the file ${id} is lost`;
    if (isGone) continue;
    const isExpired = state.expiresAt !== null && Date.parse(state.expiresAt) < clock.time();
    if (isExpired && state.heldBy.isEmpty()) yield `the expired file ${id} is left`;
  }
  for (const { data } of log.of('StoreFileAdded')) {
    const fileId = String(data.fileId);
    const isListed = log.state(store, String(data.id))?.files.has(fileId) === true;
    if (isListed && log.state(file, fileId)?.deleted !== false) yield `the deleted file ${fileId} is in a store`;
  }
}

function* batches(log: WorldLog, blobs: SharedStores['blobs']['files']): Iterable<string> {
  for (const id of log.idsOf('BatchCreated')) {
    const ended = log.of('BatchEnded').find(({ data }) => data.id === id);
    if (ended === undefined) yield `the batch ${id} has not ended`;
    const parts = log.of('BatchLinesCompleted').filter(({ data }) => data.id === id);
    if (ended === undefined) continue;
    const endedAt = Date.parse(ended.metadata.time);
    // What a store writes after its client has given up may come after the removal. `npm run blobs` finds it.
    const isLeft = (part: RecordedEvent) =>
      (blobs.get(String(part.data.blobId))?.storedAt.getTime() ?? endedAt) < endedAt;
    if (parts.some(isLeft)) yield `a part of the ended batch ${id} is left`;
  }
}

function* instances(log: WorldLog): Iterable<string> {
  for (const id of log.idsOf('InstanceCreated')) {
    const state = log.state(instance, id);
    const pending = state === null ? null : pendingOperation(state);
    if (pending !== null) yield `the operation ${pending.number} of the instance ${id} has not ended`;
  }
}

function* customers(log: WorldLog): Iterable<string> {
  for (const { data } of log.of('CustomerCreated'))
    if (log.state(project, String(data.projectId)) === null) yield `the customer ${data.id} has no project`;
}
