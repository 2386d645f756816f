import type { Entity } from '#domain/entity.ts';
import type { PhoneNumberClaimEvents, PhoneNumberEvents } from './events.ts';
import type { PhoneNumberRecord } from './record.ts';

/** A phone number; null before it was created; `abandoned` when its claim was given up before it was. */
export type PhoneNumberState = { readonly record: PhoneNumberRecord; readonly deleted: boolean } | 'abandoned' | null;

/** The record of a phone number that was created. */
export function phoneNumberRecord(state: PhoneNumberState): PhoneNumberRecord {
  if (state === null || state === 'abandoned') throw new Error('an answer about a phone number needs one');
  return state.record;
}

export const phoneNumber: Entity<PhoneNumberState, PhoneNumberEvents> = {
  category: 'phoneNumber',
  initial: null,
  streamKey: (id) => id,
  knows: (state) => state !== null && state !== 'abandoned',
  isLive: (state) => state !== null && state !== 'abandoned' && !state.deleted,
  weigh: (state) => 2 * JSON.stringify(state).length,
  notFound: 'phone-number-not-found',
  evolve: (state, event) => {
    const { time } = event.metadata;
    if (event.type === 'PhoneNumberCreated') {
      return { record: { ...event.data, createdAt: time, updatedAt: time }, deleted: false };
    }
    if (event.type === 'PhoneNumberAbandoned') return 'abandoned';
    if (state === null || state === 'abandoned') return state;
    const changed = (change: Partial<PhoneNumberRecord>) => ({
      ...state,
      record: { ...state.record, ...change, updatedAt: time },
    });
    switch (event.type) {
      case 'PhoneNumberRenamed':
        return changed({ name: event.data.name });
      case 'PhoneNumberStatusChanged':
        return changed({ status: event.data.status });
      case 'PhoneNumberFlowSet':
        return changed({ flowId: event.data.flowId });
      case 'PhoneNumberDeleted':
        return { ...state, deleted: true };
    }
  },
};

/** Who holds a number: the last event's phone number, and since when. */
export type PhoneNumberClaimState = { readonly phoneNumberId: string; readonly since: string } | null;

/** One number in one space: `{space and number, hashed}`. */
export const phoneNumberClaim: Entity<PhoneNumberClaimState, PhoneNumberClaimEvents> = {
  category: 'phoneNumberClaim',
  initial: null,
  streamKey: (id) => id,
  knows: (state) => state !== null,
  isLive: (state) => state !== null,
  notFound: 'phone-number-not-found',
  evolve: (_, { data, metadata }) => ({ phoneNumberId: data.phoneNumberId, since: metadata.time }),
};
