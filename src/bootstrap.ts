import * as E from 'fp-ts/lib/Either.js';
import { apiKey } from '#domain/api-key/api-key.ts';
import { keptOfSecret } from '#domain/api-key/secret.ts';
import type { EventOf } from '#domain/entity.ts';
import { happened } from '#domain/event.ts';
import { organization } from '#domain/organization/organization.ts';
import { project } from '#domain/project/project.ts';
import { scopesOfKeyType } from '#domain/scope.ts';
import type { CommandHandler, Handling } from '#event-store/command-handler.ts';
import { derivedIds } from '#event-store/fresh-ids.ts';
import { generateKey } from '#operations/fresh-secret.ts';

const system = { keyId: 'system', keyType: 'system' };
const origin = { actor: system, requestId: 'first-start', correlationId: 'first-start', causationId: 'first-start' };
/** Fixed, so that a start that was cut off half way is taken up by the next one. */
const ids = {
  organization: derivedIds('switchyard first organization').id,
  project: derivedIds('switchyard first project').id,
  apiKey: derivedIds('switchyard first key').id,
};

/**
 * Makes the first organization (a partner), project and admin key, where they are not there yet. The key's events come
 * last: a store that has them was begun.
 * @param given the key's text; null to make one
 * @param tell is handed a made key before it is stored, so that no crash can leave a key that nobody was told
 */
export async function bootstrap(
  handler: CommandHandler,
  given: string | null,
  tell: (key: string) => void,
): Promise<void> {
  const begun = await handler.load(apiKey, ids.apiKey);
  if (begun.state !== null) return;
  const tenant = { organizationId: ids.organization, projectId: null, partnerId: ids.organization };
  const ofProject = { ...tenant, projectId: ids.project };
  await create(handler, organization, ids.organization, tenant, [
    happened('OrganizationCreated', { id: ids.organization, name: 'First organization', partner: true }),
  ]);
  await create(handler, project, ids.project, ofProject, [
    happened('ProjectCreated', { id: ids.project, organizationId: ids.organization, name: 'First project' }),
  ]);
  const key = given ?? generateKey();
  if (given === null) tell(key);
  await create(handler, apiKey, ids.apiKey, ofProject, [
    happened('ApiKeyCreated', {
      id: ids.apiKey,
      projectId: ids.project,
      organizationId: ids.organization,
      name: 'First key',
      keyType: 'admin' as const,
      scopes: [...scopesOfKeyType.admin],
      ...keptOfSecret(key),
    }),
  ]);
}

async function create<State, Events>(
  handler: CommandHandler,
  entity: Handling<State, Events>['entity'],
  id: string,
  tenant: { organizationId: string; projectId: string | null; partnerId: string },
  events: ReadonlyArray<EventOf<Events>>,
): Promise<void> {
  const handled = await handler.handle<State, Events>({
    entity,
    id,
    origin,
    decide: ({ state }) => E.right({ events: state === null ? events : [], tenant }),
  });
  if (E.isLeft(handled)) throw new Error(`the first start failed: ${handled.left.detail}`);
}
