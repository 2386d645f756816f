import type { AttemptFailure } from '#gateway/attempt/attempt-failure.ts';
import { tokensIn } from '#gateway/neutral/provider-report.ts';
import { createCallRecord } from '#gateway/relay/create-call-record.ts';
import type { CopyName, ProviderCopy } from '#responses/provider-copies.ts';
import type { JsonObject } from '#shared/json/json.ts';
import {
  type CopyAnswer,
  type CopyRequest,
  callTarget,
  isFinished,
  type ProviderAccess,
  type ResolvedTarget,
  resolveTarget,
} from './background-target.ts';

/** How long a call whose client has its answer may wait for a provider. */
export const maxCleanUpMs = 5_000;

/** Limits of one request to a provider. */
type CallLimit = Pick<CopyRequest, 'maxMs' | 'signal'>;

/** Why a provider's copy is not deleted: `unknown-target` if the configuration does not have its target. */
export type NotDeleted = AttemptFailure | 'unknown-target';

/**
 * Deletes a provider's copy, and removes it from the list of copies. A failure is logged.
 * @returns null if it is deleted; one that is not there counts as deleted
 */
export async function deleteCopy(
  access: ProviderAccess,
  copy: CopyName,
  limit: CallLimit = {},
): Promise<NotDeleted | null> {
  const resolved = resolveTarget(access, copy);
  if (resolved === null) return 'unknown-target';
  const answer = await callTarget(access, resolved, { action: 'delete', id: copy.id, ...limit });
  if (answer.kind === 'failed') return logged(access, copy, { action: 'delete', failure: answer.failure });
  await forgetCopy(access, copy);
  return null;
}

/** Cancels and deletes a copy of which no client knows. Its client has an answer by then. Failures are logged. */
export async function dropCopy(access: ProviderAccess, copy: CopyName): Promise<void> {
  const resolved = resolveTarget(access, copy);
  if (resolved === null) return;
  const answer = await callTarget(access, resolved, { action: 'cancel', id: copy.id, maxMs: maxCleanUpMs });
  if (answer.kind === 'failed') logged(access, copy, { action: 'cancel', failure: answer.failure });
  await deleteCopy(access, copy, { maxMs: maxCleanUpMs });
}

/** A copy whose end may be unread, and the request that looks at it. */
export interface UnreadCopy
  extends CopyName,
    Pick<ProviderCopy, 'keyId' | 'organizationId' | 'partnerId' | 'isCounted'> {
  readonly requestId: string;
}

/**
 * Deletes a provider's copy whose end may be unread. It is cancelled if it is unfinished, and its usage is recorded.
 * @returns null if it is deleted; one that is not there counts as deleted
 * @throws UnavailableError
 */
export async function endCopy(
  access: ProviderAccess,
  copy: UnreadCopy,
  limit: CallLimit = {},
): Promise<NotDeleted | null> {
  const resolved = resolveTarget(access, copy);
  if (resolved === null) return 'unknown-target';
  if (!copy.isCounted) {
    const last = await readLast(access, resolved, { id: copy.id, ...limit });
    if (last.kind === 'failed') return logged(access, copy, { action: last.action, failure: last.failure });
    if (last.kind === 'gone') return forgetCopy(access, copy);
    await recordUsage(access, resolved, copy, last.response);
  }
  return deleteCopy(access, copy, limit);
}

/**
 * Records the usage of a response whose end is not read yet, if it is finished.
 * @returns null if the provider has answered
 * @throws UnavailableError
 */
export async function countCopy(
  access: ProviderAccess,
  copy: UnreadCopy,
  limit: CallLimit = {},
): Promise<NotDeleted | null> {
  const resolved = resolveTarget(access, copy);
  if (resolved === null) return 'unknown-target';
  const answer = await callTarget(access, resolved, { action: 'get', id: copy.id, ...limit });
  if (answer.kind === 'failed') return logged(access, copy, { action: 'get', failure: answer.failure });
  if (answer.kind === 'gone') return forgetCopy(access, copy);
  const { response } = answer;
  if (response !== null && isFinished(response)) await recordUsage(access, resolved, copy, response);
  return null;
}

/** Reads a response that nobody reads after this, as it is when nothing changes it any more. */
async function readLast(
  access: ProviderAccess,
  resolved: ResolvedTarget,
  request: Omit<CopyRequest, 'action'>,
): Promise<CopyAnswer & Pick<CopyRequest, 'action'>> {
  const read = await callTarget(access, resolved, { action: 'get', ...request });
  const isOpen = read.kind === 'answered' && (read.response === null || !isFinished(read.response));
  if (!isOpen) return { ...read, action: 'get' };
  return { ...(await callTarget(access, resolved, { action: 'cancel', ...request })), action: 'cancel' };
}

async function recordUsage(
  { gateway }: ProviderAccess,
  { route, target }: ResolvedTarget,
  { projectId, id, keyId, organizationId, partnerId, requestId }: UnreadCopy,
  response: JsonObject | null,
): Promise<void> {
  const tokens = tokensIn(response?.usage);
  if (tokens === null || !(await gateway.responses.copies.count(projectId, id))) return;
  const caller = { keyId, projectId, organizationId, partnerId };
  const call = {
    operation: 'responses',
    caller,
    requestId,
    batchId: null,
    isStreamed: false,
    characters: null,
  } as const;
  const record = createCallRecord(
    { ...call, route, startedAt: performance.now() },
    { ...ended, target, reported: { tokens, audioSeconds: null } },
  );
  gateway.relayDependencies.usage.record(record);
}

/** A call that no client has made: nothing was tried for one. */
const ended = {
  outcome: 'served',
  attempts: [],
  brokenAttempts: [],
  errorCode: null,
  reason: null,
  times: { headersAt: null, contentAt: null },
} as const;

/** Removes a copy from the list. If this fails, it is looked at again, and is not at the provider then. */
export async function forgetCopy({ gateway }: ProviderAccess, { projectId, id }: CopyName): Promise<null> {
  try {
    await gateway.responses.copies.remove(projectId, id);
  } catch (error) {
    gateway.log.warn({ error: String(error) }, 'The deletion of a provider’s copy could not be stored');
  }
  return null;
}

function logged(
  { gateway }: ProviderAccess,
  { target }: CopyName,
  { action, failure }: Pick<CopyRequest, 'action'> & { readonly failure: AttemptFailure },
): AttemptFailure {
  gateway.log.warn(
    { target, action, kind: failure.kind },
    'A provider did not do what it was asked for with a response',
  );
  return failure;
}
