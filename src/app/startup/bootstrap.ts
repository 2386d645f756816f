import * as E from 'fp-ts/lib/Either.js';
import { generateKey } from '#application/commands/new-api-key.ts';
import { deriveNewIds } from '#application/commands/new-ids.ts';
import type { StreamWrite, StreamWriter } from '#application/commands/stream-writer.ts';
import { type ApiKeyState, apiKey, newestSecretOf } from '#domain/api-key/api-key.ts';
import { storedFormOfKey } from '#domain/api-key/secret.ts';
import { organization } from '#domain/organization/organization.ts';
import { project } from '#domain/project/project.ts';
import type { EventOf } from '#domain/shared/entity.ts';
import { newEvent } from '#domain/shared/event.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';

const system = { keyId: 'system', keyType: 'system' };
const origin = { actor: system, requestId: 'first-start', correlationId: 'first-start', causationId: 'first-start' };
/** Fixed, so that a start that was cut off half way is taken up by the next one. */
const ids = {
  organization: deriveNewIds('switchyard first organization').id,
  project: deriveNewIds('switchyard first project').id,
  apiKey: deriveNewIds('switchyard first key').id,
};

/** Whether the first start was finished, on whatever node. @throws UnavailableError */
export async function isBootstrapped(handler: StreamWriter): Promise<boolean> {
  return (await firstKeyIn(handler)) !== null;
}

async function firstKeyIn(handler: StreamWriter): Promise<ApiKeyState> {
  return (await handler.load(apiKey, ids.apiKey)).state;
}

/** The first admin key's text, the same whenever it is asked for. */
export interface FirstKey {
  /** Somebody has asked for it: what was made has been told. */
  readonly given: boolean;
  /** Gives it; one that is made is told before, so that no crash can leave a key that nobody was told. */
  readonly text: () => string;
}

/** @param given null to make one; @param tell is handed the key that is made, once */
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
 * Makes the first organization (a partner), project and admin key, where they are not there yet. The key's events come
 * last: a store that has them was begun. May be called again after it has failed.
 * @returns false where `key` was given away in vain: another node was quicker
 * @throws UnavailableError
 */
export async function bootstrap(handler: StreamWriter, key: FirstKey): Promise<boolean> {
  if (!key.given && (await isBootstrapped(handler))) return true;
  const tenant = { organizationId: ids.organization, projectId: null, partnerId: ids.organization };
  const ofProject = { ...tenant, projectId: ids.project };
  await create(handler, organization, ids.organization, tenant, [
    newEvent('OrganizationCreated', { id: ids.organization, name: 'First organization', partner: true }),
  ]);
  await create(handler, project, ids.project, ofProject, [
    newEvent('ProjectCreated', { id: ids.project, organizationId: ids.organization, name: 'First project' }),
  ]);
  const kept = storedFormOfKey(key.text());
  await create(handler, apiKey, ids.apiKey, ofProject, [
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
  return newestSecretOf(await firstKeyIn(handler)) === kept.secretHash;
}

async function create<State, Events>(
  handler: StreamWriter,
  entity: StreamWrite<State, Events>['entity'],
  id: string,
  tenant: { organizationId: string; projectId: string | null; partnerId: string },
  events: ReadonlyArray<EventOf<Events>>,
): Promise<void> {
  const handled = await handler.write<State, Events>({
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
