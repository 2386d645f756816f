import { entityHistory, quote, unlisted } from '#domain/history/listed-event.ts';
import type { ResourceName } from '#domain/history/record.ts';
import type { PhoneNumberClaimEvents, PhoneNumberEvents } from './events.ts';
import {
  type PhoneNumberClaimState,
  type PhoneNumberState,
  phoneNumber,
  phoneNumberClaim,
  phoneNumberRecord,
} from './phone-number.ts';

const itself = ({ id }: { readonly id: string }): ResourceName => ({ kind: 'phone-number', id });

export const phoneNumberHistory = entityHistory<PhoneNumberState, PhoneNumberEvents>({
  entity: phoneNumber,
  events: {
    PhoneNumberCreated: {
      resource: itself,
      summary: ({ number, type }) => `The ${type} phone number ${quote(number)} was added.`,
    },
    PhoneNumberRenamed: { resource: itself, summary: ({ name }) => `The phone number was renamed to ${quote(name)}.` },
    PhoneNumberStatusChanged: { resource: itself, summary: ({ status }) => `The phone number was ${status}.` },
    PhoneNumberFlowSet: {
      resource: itself,
      summary: ({ flowId, reason }) => {
        if (flowId !== null) return `The phone number was pointed at the flow ${flowId}.`;
        return reason === 'flow-deleted'
          ? 'The phone number was detached, because its flow was deleted.'
          : 'The phone number was detached from its flow.';
      },
    },
    PhoneNumberDeleted: { resource: itself, summary: () => 'The phone number was deleted, and its number is free.' },
    // The number was claimed but not created.
    PhoneNumberAbandoned: unlisted,
  },
  record: async (state, { id }, { dataAt }) =>
    phoneNumber.isLive(state, id) ? phoneNumberRecord(state, dataAt) : null,
});

/** Claims keep numbers unique. No client requests them, so they are not listed. */
export const phoneNumberClaimHistory = entityHistory<PhoneNumberClaimState, PhoneNumberClaimEvents>({
  entity: phoneNumberClaim,
  events: { PhoneNumberClaimed: unlisted },
  record: async () => null,
});
