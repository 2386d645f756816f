import * as E from 'fp-ts/lib/Either.js';
import type { OrganizationEvents } from '#domain/organization/events.ts';
import { project } from '#domain/project/project.ts';
import { newEvent } from '#domain/shared/event.ts';
import type { Process } from '#process-engine/process.ts';

/** The same for all customers, because a project's name is stored in plain text and must not be personal. */
const projectName = 'Main project';

/** Makes the project that a new customer's first event names. */
export const createCustomerProjects: Process = {
  name: 'create-customer-projects',
  types: ['CustomerCreated'],
  handles: () => true,
  handle: async ({ data, metadata: { partnerId } }, { write }) => {
    const { id: organizationId, projectId } = data as unknown as OrganizationEvents['CustomerCreated'];
    await write({
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
