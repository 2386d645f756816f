import type { AttemptFailure } from '#gateway/attempt/attempt-failure.ts';
import { tokensIn } from '#gateway/neutral/provider-report.ts';
import { createCallRecord, type RecordedCall } from '#gateway/relay/create-call-record.ts';
import type { BackgroundTarget, BackgroundWork } from '#responses/response-store.ts';
import type { JsonObject } from '#shared/json/json.ts';
import {
  callTarget,
  isFinished,
  type ProviderAccess,
  type ResolvedTarget,
  resolveTarget,
} from './background-target.ts';

/** How long a call whose client has its answer may wait for a provider. */
export const maxCleanUpMs = 5_000;

/**
 * Deletes the provider's copy of a response. One that is not there, or whose target is not in the configuration, counts as
 * deleted.
 * @param maxMs the limit of its time; without it, that of the target's calls
 * @returns why it is not deleted; null if it is
 */
export async function deleteAtProvider(
  access: ProviderAccess,
  background: BackgroundTarget,
  id: string,
  maxMs?: number,
): Promise<AttemptFailure | null> {
  const resolved = resolveTarget(access, background);
  if (resolved === null) return null;
  const answer = await callTarget(access, resolved, {
    action: 'delete',
    id,
    ...(maxMs === undefined ? {} : { maxMs }),
  });
  if (answer.kind !== 'failed') return null;
  const { failure } = answer;
  access.gateway.log.warn({ target: background.target, kind: failure.kind }, 'A provider did not delete a response');
  return failure;
}

/** Cancels a response that nobody can read any more, after its client has an answer. A failure is logged. */
export async function cancelAtProvider(
  access: ProviderAccess,
  background: BackgroundTarget,
  id: string,
): Promise<void> {
  const resolved = resolveTarget(access, background);
  if (resolved === null) return;
  const answer = await callTarget(access, resolved, { action: 'cancel', id, maxMs: maxCleanUpMs });
  if (answer.kind !== 'failed') return;
  const { kind } = answer.failure;
  access.gateway.log.warn({ target: background.target, kind }, 'A provider did not cancel a response');
}

/** A response that is deleted although its end was not read. */
export interface UnreadResponse {
  readonly id: string;
  readonly background: BackgroundWork;
  /** Whose usage it is, and the request that deletes it. */
  readonly caller: RecordedCall['caller'];
  readonly requestId: string;
  /** Marks its usage as recorded. @returns false if it was marked before */
  readonly count: () => Promise<boolean>;
}

/**
 * Deletes the provider's copy of a response whose end was not read. It is cancelled if it is unfinished, and its usage is
 * recorded.
 * @returns why it is not deleted; null if it is
 * @throws UnavailableError
 */
export async function endAtProvider(access: ProviderAccess, unread: UnreadResponse): Promise<AttemptFailure | null> {
  const { id, background } = unread;
  const resolved = resolveTarget(access, background);
  if (resolved === null) return null;
  const startedAt = performance.now();
  if (background.isCounted !== true) {
    const last = await readLast(access, resolved, id);
    if (last === 'gone') return null;
    if (last.kind === 'failed') return last.failure;
    await recordUsage(access, resolved, unread, { response: last.response, startedAt });
  }
  return deleteAtProvider(access, background, id);
}

type LastAnswer =
  | 'gone'
  | { readonly kind: 'failed'; readonly failure: AttemptFailure }
  | { readonly kind: 'read'; readonly response: JsonObject | null };

/** Reads a response that nobody reads after this, as it is when nothing changes it any more. */
async function readLast(access: ProviderAccess, resolved: ResolvedTarget, id: string): Promise<LastAnswer> {
  for (const action of ['get', 'cancel'] as const) {
    const answer = await callTarget(access, resolved, { action, id });
    if (answer.kind === 'gone') return 'gone';
    if (answer.kind === 'failed') return answer;
    const { response } = answer;
    if (action === 'cancel' || (response !== null && isFinished(response))) return { kind: 'read', response };
  }
  return 'gone';
}

async function recordUsage(
  { gateway }: ProviderAccess,
  { route, target }: ResolvedTarget,
  { caller, requestId, count }: UnreadResponse,
  { response, startedAt }: { readonly response: JsonObject | null; readonly startedAt: number },
): Promise<void> {
  const tokens = tokensIn(response?.usage);
  if (tokens === null || !(await count())) return;
  const call = {
    operation: 'responses',
    caller,
    requestId,
    batchId: null,
    isStreamed: false,
    characters: null,
  } as const;
  const times = { headersAt: null, contentAt: null };
  gateway.relayDependencies.usage.record(
    createCallRecord(
      { ...call, startedAt, route },
      {
        outcome: 'served',
        target,
        attempts: [],
        reported: { tokens, audioSeconds: null },
        brokenAttempts: [],
        errorCode: null,
        reason: null,
        times,
      },
    ),
  );
}
