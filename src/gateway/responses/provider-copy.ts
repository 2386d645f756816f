import type { AttemptFailure } from '#gateway/attempt/attempt-failure.ts';
import type { Gateway } from '#gateway/gateway.ts';
import { usageIn } from '#gateway/neutral/provider-report.ts';
import { createCallRecord } from '#gateway/relay/create-call-record.ts';
import type { CopyName, ProviderCopy } from '#responses/provider-copies.ts';
import { errorText } from '#shared/logging/logged-error.ts';
import {
  type CopyAnswer,
  type CopyRequest,
  callTarget,
  isFinished,
  type ProviderAccess,
  type ResolvedTarget,
  resolveTarget,
} from './background-target.ts';

const maxCleanUpMs = 5_000;

type CallLimit = Pick<CopyRequest, 'maxMs' | 'signal'>;

/** Why a copy is not deleted. `unknown-target` if the configuration does not have its target. */
export type NotDeleted = AttemptFailure | 'unknown-target';

/**
 * Deletes a copy, and removes it from the list. A failure is logged.
 * @returns null if it is deleted; one that is not there counts as deleted
 */
async function deleteCopy(access: ProviderAccess, copy: CopyName, limit: CallLimit = {}): Promise<NotDeleted | null> {
  const answer = await callAbout(access, copy, { action: 'delete', ...limit });
  return answer.kind === 'failed' ? answer.failure : forgetCopy(access, copy);
}

/**
 * Ends a copy after the call that has made it. If too many others wait, the retention of copies does it. Failures are
 * logged.
 * @param isFinished whether the provider has finished it; another one is cancelled first
 */
export function cleanUpLater(gateway: Gateway, copy: CopyName, isFinished: boolean): void {
  gateway.cleanUps.add(copy.projectId, async (signal) => {
    const configuration = gateway.acquireConfiguration();
    const access = { gateway, configuration, held: { answer: { takeBegun: () => true } } };
    const limit = { maxMs: maxCleanUpMs, signal };
    try {
      if (!isFinished) await callAbout(access, copy, { action: 'cancel', ...limit });
      await deleteCopy(access, copy, limit);
    } catch (error) {
      gateway.log.warn({ error: String(error) }, 'The copy of a response at its provider was not deleted');
    } finally {
      gateway.releaseConfiguration(configuration);
    }
  });
}

interface UnreadCopy extends CopyName, Pick<ProviderCopy, 'keyId' | 'organizationId' | 'partnerId' | 'isCounted'> {
  readonly requestId: string;
}

/**
 * Deletes a provider's copy. It is cancelled if it is unfinished, and its usage is recorded.
 * @returns null if it is deleted; one that is not there counts as deleted
 * @throws UnavailableError
 */
export async function endCopy(
  access: ProviderAccess,
  copy: UnreadCopy,
  limit: CallLimit = {},
): Promise<NotDeleted | null> {
  if (!copy.isCounted) {
    const last = await readLast(access, copy, limit);
    if (last.kind === 'failed') return last.failure;
    if (last.kind === 'gone') return forgetCopy(access, copy);
    await recordUsage(access, copy, last);
  }
  return deleteCopy(access, copy, limit);
}

/**
 * Records the usage of the response if it is finished.
 * @returns null if the provider has answered
 * @throws UnavailableError
 */
export async function countCopy(
  access: ProviderAccess,
  copy: UnreadCopy,
  limit: CallLimit = {},
): Promise<NotDeleted | null> {
  const answer = await callAbout(access, copy, { action: 'get', ...limit });
  if (answer.kind === 'failed') return answer.failure;
  if (answer.kind === 'gone') return forgetCopy(access, copy);
  if (answer.response !== null && isFinished(answer.response)) await recordUsage(access, copy, answer);
  return null;
}

/**
 * Reads the response for the last time. Nobody reads it afterwards, so it is cancelled first if it may still change.
 */
async function readLast(access: ProviderAccess, copy: CopyName, limit: CallLimit): Promise<CopyOutcome> {
  const read = await callAbout(access, copy, { action: 'get', ...limit });
  const isOpen = read.kind === 'answered' && (read.response === null || !isFinished(read.response));
  return isOpen ? callAbout(access, copy, { action: 'cancel', ...limit }) : read;
}

/** The outcome of a call, with the target that gave the answer, or why there is no answer. */
type CopyOutcome =
  | (Extract<CopyAnswer, { readonly kind: 'answered' }> & { readonly resolved: ResolvedTarget })
  | { readonly kind: 'gone' }
  | { readonly kind: 'failed'; readonly failure: NotDeleted };

/** Calls the provider about a copy. A failure is logged. */
async function callAbout(
  access: ProviderAccess,
  copy: CopyName,
  request: Omit<CopyRequest, 'id'>,
): Promise<CopyOutcome> {
  const resolved = resolveTarget(access, copy);
  if (resolved === null) return { kind: 'failed', failure: 'unknown-target' };
  const answer = await callTarget(access, resolved, { ...request, id: copy.id });
  if (answer.kind === 'answered') return { ...answer, resolved };
  if (answer.kind === 'failed') {
    access.gateway.log.warn(
      { target: copy.target, action: request.action, kind: answer.failure.kind },
      'A provider did not do what it was asked for with a response',
    );
  }
  return answer;
}

async function recordUsage(
  { gateway }: ProviderAccess,
  { projectId, id, keyId, organizationId, partnerId, requestId }: UnreadCopy,
  { response, resolved: { route, target } }: Extract<CopyOutcome, { readonly kind: 'answered' }>,
): Promise<void> {
  const tokens = response === null ? null : usageIn(response);
  if (tokens === null || !(await gateway.responses.copies.count(projectId, id))) return;
  const caller = { keyId, projectId, organizationId, partnerId };
  const call = {
    operation: 'responses',
    caller,
    id: requestId,
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

/** The end of a call that no client has made: nothing was tried for one. */
const ended = {
  outcome: 'served',
  attempts: [],
  brokenAttempts: [],
  errorCode: null,
  reason: null,
  times: { headersAt: null, contentAt: null },
} as const;

/** Removes the copy from the list. If this fails, it is checked again, and does not exist at the provider then. */
export async function forgetCopy({ gateway }: ProviderAccess, { projectId, id }: CopyName): Promise<null> {
  try {
    await gateway.responses.copies.remove(projectId, id);
  } catch (error) {
    gateway.log.warn({ error: errorText(error) }, 'The deletion of a provider’s copy could not be stored');
  }
  return null;
}
