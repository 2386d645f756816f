import type { Tenant } from '#domain/shared/access.ts';
import type { EventMetadata } from '#domain/shared/event.ts';
import type { RecordedEvent } from '#event-store/event-store.ts';

/** The record for answers, its tenant, and the revision for its ETag. */
export interface TenantDocument<Record> extends Tenant {
  readonly record: Record;
  readonly revision: number;
}

/**
 * Each type of key gets its part of the list (`tenantFilter`), with and without each filter.
 * @param owners the members that name the tenant of a document
 */
export function tenantIndexes<Filter extends string>(
  owners: ReadonlyArray<keyof Tenant>,
  filters: ReadonlyArray<Filter>,
): ReadonlyArray<ReadonlyArray<keyof Tenant | Filter>> {
  const narrowed = filters.flatMap((filter) => [[filter], ...owners.map((owner) => [owner, filter])]);
  return [...owners.map((owner) => [owner]), ...narrowed];
}

export function tenantOf({ organizationId, projectId, partnerId }: EventMetadata): Tenant {
  return { organizationId, projectId, partnerId };
}

/** After an event that has changed members of the record; null stays null. */
export function changed<Document extends TenantDocument<object>>(
  document: Document | null,
  { revision, metadata }: Pick<RecordedEvent, 'revision' | 'metadata'>,
  change: Partial<Document['record']>,
): Document | null {
  return document && { ...document, revision, record: { ...document.record, ...change, updatedAt: metadata.time } };
}

/** After an event of the stream that has not changed the record; null stays null. */
export function moved<Document extends { readonly revision: number }>(
  document: Document | null,
  { revision }: Pick<RecordedEvent, 'revision'>,
): Document | null {
  return document && { ...document, revision };
}
