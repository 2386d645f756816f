import { entityHistory, quote } from '#domain/history/listed-event.ts';
import type { ResourceName } from '#domain/history/record.ts';
import type { InstanceEvents } from './events.ts';
import { type InstanceState, instance, instanceRecord } from './instance.ts';

const itself = ({ id }: { readonly id: string }): ResourceName => ({ kind: 'instance', id });

/** The history of an instance and of its operations. */
export const instanceHistory = entityHistory<InstanceState, InstanceEvents>({
  entity: instance,
  events: {
    InstanceCreated: {
      resource: itself,
      summary: ({ name, templateVersion }) =>
        `The instance ${quote(name)} of template version ${templateVersion} was created.`,
    },
    InstanceUpgradeRequested: {
      resource: itself,
      summary: ({ templateVersion }) => `An upgrade to template version ${templateVersion} was begun.`,
    },
    InstanceRetryRequested: {
      resource: itself,
      summary: ({ operation }) => `A retry was begun, operation ${operation}.`,
    },
    InstanceDeleted: {
      resource: itself,
      summary: ({ keepResources }) =>
        keepResources ? 'The instance was deleted; what it made stays.' : 'The instance was deleted.',
    },
    InstanceProgressed: {
      resource: itself,
      summary: ({ operation, done }) => `Operation ${operation} has done ${done} ${done === 1 ? 'step' : 'steps'}.`,
    },
    InstanceAttemptFailed: {
      resource: itself,
      summary: ({ operation, attempt, reason }) =>
        `Attempt ${attempt} at a step of operation ${operation} failed: ${quote(reason)}.`,
    },
    InstanceOperationFailed: {
      resource: itself,
      summary: ({ operation, reason }) => `Operation ${operation} failed and is undone: ${quote(reason)}.`,
    },
    InstanceOperationCommitted: {
      resource: itself,
      summary: ({ operation }) => `Operation ${operation} has passed its commit point.`,
    },
    InstanceOperationEnded: {
      resource: itself,
      summary: ({ operation, outcome }) => `Operation ${operation} ended: ${outcome}.`,
    },
    InstancePhoneNumberSet: {
      resource: itself,
      summary: ({ key, phoneNumberId }) =>
        phoneNumberId === null
          ? `The phone number requirement ${quote(key)} is unmet again.`
          : `The phone number ${phoneNumberId} meets the requirement ${quote(key)}.`,
    },
  },
  record: async (state, { id }) => (instance.isLive(state, id) ? instanceRecord(state) : null),
});
