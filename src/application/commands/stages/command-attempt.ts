import { hash } from 'node:crypto';
import type { AnyCommand, LoadedStream, NewSecrets } from '#application/commands/command.ts';
import { createNewIds, deriveNewIds, type NewIds } from '#application/commands/new-ids.ts';
import { createNewSecrets } from '#application/commands/new-secrets.ts';
import type { Origin } from '#application/commands/streams/stream-write.ts';
import type { OperationRequest, ValidRequest } from '#application/operations/operation-request.ts';
import { PassingSubjectKeys } from '#personal-data/passing-subject-keys.ts';
import { PersonalData } from '#personal-data/personal-data.ts';

/** One attempt at a request, with its new ids. */
export interface CommandAttempt {
  readonly request: OperationRequest;
  readonly input: never;
  readonly subject: LoadedStream<unknown>;
  readonly newIds: NewIds;
  readonly newSecrets: NewSecrets;
  readonly idempotency: { readonly key: string; readonly body: string } | null;
  /** The keys of personal data; temporary ones in a dry run. */
  readonly personalData: PersonalData;
  /** The resource that the command creates or changes. */
  readonly id: string;
}

/**
 * Begins an attempt at a request. @param key the identity of a request with an `Idempotency-Key` @param number the
 * number of earlier attempts with this key; each has other ids
 * @throws UnavailableError
 */
export async function beginAttempt(
  { newId, subject: named, personal, seals }: AnyCommand,
  stored: PersonalData,
  { request, subject, input, bodyHash }: ValidRequest<LoadedStream<unknown>>,
  key: string | null,
  number: number,
): Promise<CommandAttempt> {
  const newIds = key === null ? createNewIds() : deriveNewIds(number === 0 ? key : `${key}\n${number}`);
  const id = newId?.(input as never, newIds) ?? request.parameters[named?.parameter ?? ''] ?? '';
  const isTried = request.dryRun === true;
  let body = bodyHash;
  // A dry run must not create the key of a subject.
  if (key !== null && personal === true)
    body = await (isTried ? stored.knownHash(id, bodyHash) : stored.keyedHash(id, bodyHash));
  const idempotency = key === null ? null : { key, body };
  const personalData =
    isTried && (personal === true || seals === true) ? new PersonalData(new PassingSubjectKeys()) : stored;
  return {
    request,
    input: input as never,
    subject,
    newIds,
    newSecrets: createNewSecrets(),
    idempotency,
    personalData,
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
