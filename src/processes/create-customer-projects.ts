import * as E from 'fp-ts/lib/Either.js';
import type { OrganizationEvents } from '#domain/organization/organization.ts';
import { project } from '#domain/project/project.ts';
import { newEvent } from '#domain/shared/event.ts';
import { process } from '#process-engine/process.ts';

/**
 * The name is the same for all customers, because names of projects are stored in plain text and must not be personal.
 */
const projectName = 'Main project';

/** Creates the project that the first event of a new customer names. */
export const createCustomerProjects = process<OrganizationEvents>({
  name: 'create-customer-projects',
  on: {
    CustomerCreated: async ({ data: { id: organizationId, projectId }, metadata: { partnerId } }, { write }) =>
      write({
        entity: project,
        id: projectId,
        decide: ({ state }) => {
          const created = newEvent('ProjectCreated', { id: projectId, organizationId, name: projectName });
          return E.right({
            events: state === null ? [created] : [],
            tenant: { organizationId, projectId, partnerId },
          });
        },
      }),
  },
});
