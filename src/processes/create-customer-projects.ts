import * as E from 'fp-ts/lib/Either.js';
import type { OrganizationEvents } from '#domain/organization/events.ts';
import { project } from '#domain/project/project.ts';
import { newEvent } from '#domain/shared/event.ts';
import type { Process } from '#process-engine/process.ts';

/** Its own, and nobody's: a project's name is stored as it is. */
const projectName = 'Main project';

/** Makes the project that a new customer's first event names. */
export const createCustomerProjects: Process = {
  name: 'create-customer-projects',
  types: ['CustomerCreated'],
  concerns: () => true,
  react: async ({ data, metadata: { partnerId } }, { handle }) => {
    const { id: organizationId, projectId } = data as unknown as OrganizationEvents['CustomerCreated'];
    await handle({
      entity: project,
      id: projectId,
      decide: ({ state }) =>
        E.right({
          events:
            state === null ? [newEvent('ProjectCreated', { id: projectId, organizationId, name: projectName })] : [],
          tenant: { organizationId, projectId, partnerId },
        }),
    });
  },
};
