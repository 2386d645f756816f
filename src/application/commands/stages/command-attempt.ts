import { hash } from 'node:crypto';
import type { AnyCommand, LoadedStream, NewSecrets } from '#application/commands/command.ts';
import { createNewIds, deriveNewIds, type NewIds } from '#application/commands/new-ids.ts';
import { createNewSecrets } from '#application/commands/new-secrets.ts';
import type { Origin } from '#application/commands/streams/stream-write.ts';
import type { OperationRequest, ValidRequest } from '#application/operations/operation-request.ts';
import type { NewSubjectKeys } from '#personal-data/new-subject-keys.ts';
import type { PersonalData, PersonalTexts } from '#personal-data/personal-data.ts';

/** One attempt at a request, with its new ids. */
export interface CommandAttempt {
  readonly request: OperationRequest;
  readonly input: never;
  readonly subject: LoadedStream<unknown>;
  readonly newIds: NewIds;
  readonly newSecrets: NewSecrets;
  readonly idempotency: { readonly key: string; readonly body: string } | null;
  /** The keys of personal data that are stored when the attempt is accepted. */
  readonly newKeys: NewSubjectKeys;
  readonly personalTexts: PersonalTexts;
  /** The resource that the command creates or changes. */
  readonly id: string;
}

/**
 * Begins an attempt at a request. @param key the identity of a request with an `Idempotency-Key` @param number the
 * number of earlier attempts with this key; each has other ids
 * @throws UnavailableError
 */
export async function beginAttempt(
  { newId, subject: named, personal }: AnyCommand,
  stored: PersonalData,
  { request, subject, input, bodyHash }: ValidRequest<LoadedStream<unknown>>,
  key: string | null,
  number: number,
): Promise<CommandAttempt> {
  const newIds = key === null ? createNewIds() : deriveNewIds(number === 0 ? key : `${key}\n${number}`);
  const id = newId?.(input as never, newIds) ?? request.parameters[named?.parameter ?? ''] ?? '';
  const { newKeys, personalTexts } = stored.beginAttempt();
  const body = key !== null && personal === true ? await personalTexts.keyedHash(id, bodyHash) : bodyHash;
  const idempotency = key === null ? null : { key, body };
  return {
    request,
    input: input as never,
    subject,
    newIds,
    newSecrets: createNewSecrets(),
    idempotency,
    newKeys,
    personalTexts,
    id,
  };
}

/** Identifies a request with an `Idempotency-Key`; null for a request without one. */
export function requestKeyOf({ idempotencyKey, caller, requestTarget }: OperationRequest): string | null {
  return idempotencyKey === null ? null : hash('sha256', `${caller.keyId}\n${requestTarget}\n${idempotencyKey}`);
}

/** The origin of the events that a request appends. */
export function originOf({ caller, requestId }: OperationRequest): Origin {
  const actor = { keyId: caller.keyId, keyType: caller.keyType };
  return { actor, requestId, correlationId: requestId, causationId: requestId };
}
