import * as E from 'fp-ts/lib/Either.js';
import { deriveNewIds, generateKey } from '#application/commands/new-values.ts';
import type { StreamWrite, StreamWriter } from '#application/streams/stream-writer.ts';
import { type ApiKeyState, apiKey, newestSecretOf } from '#domain/api-key/api-key.ts';
import { storedFormOfKey } from '#domain/api-key/secret.ts';
import { organization } from '#domain/organization/organization.ts';
import { project } from '#domain/project/project.ts';
import type { EventOf } from '#domain/shared/entity.ts';
import { newEvent } from '#domain/shared/event.ts';
import { UnreadableStreamError } from '#event-store/unreadable-stream.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';

const system = { keyId: 'system', keyType: 'system' };
const origin = { actor: system, requestId: 'first-start', correlationId: 'first-start', causationId: 'first-start' };
/** Fixed ids, so that the next start continues an interrupted one. */
const ids = {
  organization: deriveNewIds('switchyard first organization').id,
  project: deriveNewIds('switchyard first project').id,
  apiKey: deriveNewIds('switchyard first key').id,
};

/** True if any node has finished the first start. @throws UnavailableError */
export async function isBootstrapped(writer: StreamWriter): Promise<boolean> {
  try {
    return (await firstKeyIn(writer)) !== null;
  } catch (error) {
    // The stream of the key lacks events, so it has been begun.
    if (error instanceof UnreadableStreamError) return true;
    throw error;
  }
}

async function firstKeyIn(writer: StreamWriter): Promise<ApiKeyState> {
  return (await writer.load(apiKey, ids.apiKey)).state;
}

/** The first key, which has the same text at every call. */
export interface FirstKey {
  /** True once `text` was called. By then a generated key is printed. */
  readonly given: boolean;
  /** A generated key is printed first, so that no crash can leave a stored key that was never printed. */
  readonly text: () => string;
}

/** @param given null to make one @param tell gets the new key, once */
export function createFirstKey(given: string | null, tell: (key: string) => void): FirstKey {
  let key: string | null = null;
  return {
    get given() {
      return key !== null;
    },
    text: () => {
      if (key !== null) return key;
      key = given ?? generateKey();
      if (given === null) tell(key);
      return key;
    },
  };
}

/**
 * Creates the first organization (a partner), project and admin key, if they do not exist. The key's events come last,
 * so a store with these events has finished its first start. It may be called again after a failure.
 * @returns false if another node was faster, so that `key` is not valid
 * @throws UnavailableError
 */
export async function bootstrap(writer: StreamWriter, key: FirstKey): Promise<boolean> {
  if (!key.given && (await isBootstrapped(writer))) return true;
  const tenant = { organizationId: ids.organization, projectId: null, partnerId: ids.organization };
  const ofProject = { ...tenant, projectId: ids.project };
  await create(writer, organization, ids.organization, tenant, [
    newEvent('OrganizationCreated', { id: ids.organization, name: 'First organization', partner: true }),
  ]);
  await create(writer, project, ids.project, ofProject, [
    newEvent('ProjectCreated', { id: ids.project, organizationId: ids.organization, name: 'First project' }),
  ]);
  const kept = storedFormOfKey(key.text());
  await create(writer, apiKey, ids.apiKey, ofProject, [
    newEvent('ApiKeyCreated', {
      id: ids.apiKey,
      projectId: ids.project,
      organizationId: ids.organization,
      name: 'First key',
      keyType: 'admin' as const,
      scopes: null,
      ...kept,
      createdByKeyId: null,
      expiresAt: null,
    }),
  ]);
  return newestSecretOf(await firstKeyIn(writer)) === kept.secretHash;
}

async function create<State, Events>(
  writer: StreamWriter,
  entity: StreamWrite<State, Events>['entity'],
  id: string,
  tenant: { organizationId: string; projectId: string | null; partnerId: string },
  events: ReadonlyArray<EventOf<Events>>,
): Promise<void> {
  const handled = await writer.write({
    entity,
    id,
    origin,
    decide: ({ state }) => E.right({ events: state === null ? events : [], tenant }),
  });
  if (E.isRight(handled)) return;
  const { code, detail, retryAfterSeconds } = handled.left;
  if (code === 'unavailable') throw new UnavailableError(detail, retryAfterSeconds);
  throw new Error(`the first start failed: ${detail}`);
}
