import * as E from 'fp-ts/lib/Either.js';
import type { OrganizationEvents } from '#domain/organization/events.ts';
import { project } from '#domain/project/project.ts';
import { newEvent } from '#domain/shared/event.ts';
import type { Process } from '#process-engine/process.ts';

/**
 * The name is the same for all customers, because names of projects are stored in plain text and must not be personal.
 */
const projectName = 'Main project';

/** Creates the project that the first event of a new customer names. */
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
