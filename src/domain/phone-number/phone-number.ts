import type { FlowState } from '#domain/flow/flow.ts';
import type { Entity } from '#domain/shared/entity.ts';
import { type Failure, failure } from '#domain/shared/failure.ts';
import { type DataAt, readReferencedText, referenceTo, type TextReference } from '#domain/shared/text-reference.ts';
import type { PhoneNumberClaimEvents, PhoneNumberEvents } from './events.ts';
import type { PhoneNumberRecord } from './record.ts';

export interface PhoneNumberFacts extends Omit<PhoneNumberRecord, 'name' | 'number' | 'externalPhoneFields'> {
  readonly name: TextReference;
  /** The revision of the event with the number and the external fields. */
  readonly numberRevision: number;
}

/** Null before it was created; `abandoned` if its claim was released before that. */
export type PhoneNumberState = { readonly record: PhoneNumberFacts; readonly deleted: boolean } | 'abandoned' | null;

export function knownPhoneNumber(state: PhoneNumberState): Exclude<PhoneNumberState, 'abandoned' | null> {
  if (state === null || state === 'abandoned') throw new Error('this needs a phone number that was created');
  return state;
}

/** @param dataAt reads events of its stream, which have name, number and external fields */
export async function phoneNumberRecord(state: PhoneNumberState, dataAt: DataAt): Promise<PhoneNumberRecord> {
  const { name: reference, numberRevision, ...facts } = knownPhoneNumber(state).record;
  const { id, projectId, type, status, flowId, createdAt, updatedAt } = facts;
  const { number, externalPhoneFields } = (await dataAt(numberRevision)) as unknown as Created;
  const name = await readReferencedText<string>(reference, 'name', dataAt);
  return { id, projectId, type, name, number, status, flowId, externalPhoneFields, createdAt, updatedAt };
}

type Created = PhoneNumberEvents['PhoneNumberCreated'];

export const phoneNumber: Entity<PhoneNumberState, PhoneNumberEvents> = {
  category: 'phoneNumber',
  stateVersion: 1,
  initial: null,
  streamKey: (id) => id,
  everExisted: (state) => state !== null && state !== 'abandoned',
  isLive: (state) => state !== null && state !== 'abandoned' && !state.deleted,
  notFound: 'phone-number-not-found',
  evolve: (state, event) => {
    const { time } = event.metadata;
    if (event.type === 'PhoneNumberCreated') {
      return { record: created(event.data, event.revision, time), deleted: false };
    }
    if (event.type === 'PhoneNumberAbandoned') return 'abandoned';
    if (state === null || state === 'abandoned') return state;
    const changed = (change: Partial<PhoneNumberFacts>) => ({
      ...state,
      record: { ...state.record, ...change, updatedAt: time },
    });
    switch (event.type) {
      case 'PhoneNumberRenamed':
        return changed({ name: referenceTo(event.data.name, event.revision) });
      case 'PhoneNumberStatusChanged':
        return changed({ status: event.data.status });
      case 'PhoneNumberFlowSet':
        return changed({ flowId: event.data.flowId });
      case 'PhoneNumberDeleted':
        return { ...state, deleted: true };
    }
  },
};

function created(
  { id, projectId, type, name, status, flowId }: Created,
  revision: number,
  time: string,
): PhoneNumberFacts {
  const references = { name: referenceTo(name, revision), numberRevision: revision };
  return { id, projectId, type, status, flowId, ...references, createdAt: time, updatedAt: time };
}

/** The holder of the claim by the last event, with the time of the claim. */
export type PhoneNumberClaimState = { readonly phoneNumberId: string; readonly since: string } | null;

/** Each number in a space has one claim: `{space and number, hashed}`. */
export const phoneNumberClaim: Entity<PhoneNumberClaimState, PhoneNumberClaimEvents> = {
  category: 'phoneNumberClaim',
  stateVersion: 1,
  initial: null,
  streamKey: (id) => id,
  everExisted: (state) => state !== null,
  isLive: (state) => state !== null,
  notFound: 'phone-number-not-found',
  evolve: (_, { data, metadata }) => ({ phoneNumberId: data.phoneNumberId, since: metadata.time }),
};

/** Refuses a flow that is unknown, deleted or another project's. */
export function checkAttachable(flow: FlowState, flowId: string, projectId: string): Failure | null {
  if (flow !== null && !flow.deleted && flow.record.projectId === projectId) return null;
  return failure('flow-not-found', `There is no flow ${flowId} in this project.`);
}
