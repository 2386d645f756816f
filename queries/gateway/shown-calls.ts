import * as E from 'fp-ts/lib/Either.js';
import type { CollectionReader } from '#application/operations/paging.ts';
import { type Caller, canAccess, notFound, type Tenant } from '#domain/shared/access.ts';
import type { Failure } from '#domain/shared/failure.ts';
import type { RecordedCall } from '#domain/usage/recorded-call.ts';
import { projects } from '#projections/access/projects.ts';

/** What `projectOfCalls` reads. */
export const readsOfCalls = { projects };

/** The project that the request names, or the key's own. @returns project-not-found if the key has no access to it */
export async function projectOfCalls(
  caller: Caller,
  named: string | undefined,
  read: Readonly<Record<keyof typeof readsOfCalls, CollectionReader>>,
): Promise<E.Either<Failure, string>> {
  if (named === undefined || named === caller.projectId) return E.right(caller.projectId);
  const found = await read.projects.get<Tenant>(named);
  if (found !== null && canAccess(caller, found.head)) return E.right(named);
  return E.left(notFound('project-not-found', JSON.stringify(named)));
}

/**
 * Hides what the caller may not see: the names of targets that failed are for operators, the cost is for keys that may
 * read usage.
 */
export function shownTo({ keyType, scopes }: Caller, { cost = null, ...call }: RecordedCall): RecordedCall {
  const paid = scopes.has('usage:read') ? { cost } : {};
  if (keyType === 'admin') return { ...call, ...paid };
  const served = call.attempts.find(({ result }) => result === 'served')?.target ?? null;
  const attempts = call.attempts.map((attempt) => ({
    ...attempt,
    target: attempt.target === served ? served : null,
  }));
  return { ...call, attempts, ...paid };
}

export const exampleCall: RecordedCall = {
  requestId: '53db8bbd-6f6c-4c43-a4b2-6f4d4d1f6c2e',
  time: '2026-01-05T09:30:00.000Z',
  keyId: 'ck8d2v6z0x4q9m3t7w1b5n2p',
  operation: 'chat',
  model: 'gpt-large',
  streamed: true,
  outcome: 'served',
  reason: null,
  attempts: [
    {
      targetNumber: 1,
      target: null,
      result: 'failed',
      status: 429,
      reason: 'provider_busy',
      startMs: 0.4,
      durationMs: 81.2,
    },
    {
      targetNumber: 2,
      target: 'azure/gpt-4.1',
      result: 'served',
      status: 200,
      reason: null,
      startMs: 82.1,
      durationMs: 1710.6,
    },
  ],
  firstContentMs: 402.7,
  totalMs: 1792.9,
  inputTokens: 311,
  outputTokens: 120,
  characters: null,
  audioSeconds: null,
  batchId: null,
  callsRepresented: 1,
  cost: 0.00158,
};
