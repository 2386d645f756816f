import * as E from 'fp-ts/lib/Either.js';
import type { AnyCommand } from '#application/commands/command.ts';
import { apiKey } from '#domain/api-key/api-key.ts';
import { project } from '#domain/project/project.ts';
import type { Caller } from '#domain/shared/access.ts';
import { apiKeyCreated, projectCreated } from '#test/support/events/tenant-events.ts';
import { callerOf, ids, tenants } from '#test/support/events/tenants.ts';
import { Service } from '#test/support/harness/in-memory-service.ts';

/** The key of the project that no other key created. */
export const rootKey = 'ckeyroot00000001';

/** Returns a caller with a key of the project. */
export const callerWithKey = (keyId: string): Caller => callerOf('project', { keyId });

/** A service with a project and its root key. */
export async function serviceWithKey(): Promise<Service> {
  const service = new Service();
  const store = (entity: AnyCommand['entity'], id: string, event: object) =>
    service.writer.write({
      entity,
      id,
      origin: { actor: { keyId: 'system', keyType: 'system' }, requestId: 'r', correlationId: 'r', causationId: 'r' },
      decide: () => E.right({ events: [event as never], tenant: tenants.project }),
    });
  await store(project, ids.project, projectCreated());
  await store(apiKey, rootKey, apiKeyCreated({ id: rootKey, scopes: null }));
  return service;
}
