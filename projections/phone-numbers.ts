import type { PhoneNumberEvents } from '#domain/phone-number/events.ts';
import type { PhoneNumberRecord } from '#domain/phone-number/record.ts';
import { ignored, projection } from '#projection-engine/projection.ts';
import type { ClaimingDocument } from '#read-store/stored-document.ts';
import { changed, type TenantDocument, tenantOf } from './document.ts';

export interface PhoneNumberDocument extends TenantDocument<PhoneNumberRecord>, ClaimingDocument {
  /** Its number. */
  readonly claims: string;
  /** Finds a flow's phone numbers. */
  readonly flowId: string | null;
}

export const phoneNumbers = projection<PhoneNumberDocument, PhoneNumberEvents>({
  name: 'phone-numbers',
  version: 2,
  keys: ({ data }) => [data.id],
  on: {
    PhoneNumberCreated: {
      create: ({ data, revision, metadata }) => ({
        claims: claimOf(data),
        ...tenantOf(metadata),
        revision,
        flowId: data.flowId,
        record: { ...data, createdAt: metadata.time, updatedAt: metadata.time },
      }),
    },
    PhoneNumberRenamed: (document, event) => changed(document, event, { name: event.data.name }),
    PhoneNumberStatusChanged: (document, event) => changed(document, event, { status: event.data.status }),
    PhoneNumberFlowSet: (document, event) => {
      const { flowId } = event.data;
      const after = changed(document, event, { flowId });
      return after && { ...after, flowId };
    },
    PhoneNumberDeleted: () => null,
    // The number was claimed and never created.
    PhoneNumberAbandoned: ignored,
  },
  indexes: [['projectId'], ['flowId'], ['projectId', 'name'], ['projectId', 'status'], ['projectId', 'flowId']],
  // A number that was released and taken again has a new document; the removal of the old one may be stored later.
  disclaim: () => null,
});

/** External numbers have a separate space for each project (`claimedNumbers`). */
function claimOf({ type, projectId, number }: Pick<PhoneNumberRecord, 'type' | 'projectId' | 'number'>): string {
  const claim = type === 'external' ? `${projectId} ${number}` : number;
  return encodeURIComponent(claim.toWellFormed());
}
