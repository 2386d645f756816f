import type { EventMetadata } from '#domain/shared/event.ts';
import type { Tenant } from '#domain/shared/tenancy.ts';
import type { RecordedEvent } from '#event-store/event-store.ts';

/** What most documents are: a record as it is given out, whose it is, and the revision for its ETag. */
export interface TenantDocument<Record> extends Tenant {
  readonly record: Record;
  readonly revision: number;
}

/**
 * Indexes of a list that each type of key is shown its part of (`tenantFilter`), with and without each filter.
 * @param owners the members that name whose a document is
 */
export function tenantIndexes<Filter extends string>(
  owners: ReadonlyArray<keyof Tenant>,
  filters: ReadonlyArray<Filter>,
): ReadonlyArray<ReadonlyArray<keyof Tenant | Filter>> {
  const narrowed = filters.flatMap((filter) => [[filter], ...owners.map((owner) => [owner, filter])]);
  return [...owners.map((owner) => [owner]), ...narrowed];
}

/** Whose an event's stream is. */
export function tenantOf({ organizationId, projectId, partnerId }: EventMetadata): Tenant {
  return { organizationId, projectId, partnerId };
}

/** A document after an event that changed members of its record; null stays null. */
export function changed<Document extends TenantDocument<object>>(
  document: Document | null,
  { revision, metadata }: Pick<RecordedEvent, 'revision' | 'metadata'>,
  change: Partial<Document['record']>,
): Document | null {
  return document && { ...document, revision, record: { ...document.record, ...change, updatedAt: metadata.time } };
}

/** A document after an event of its stream that changed nothing of its record; null stays null. */
export function moved<Document extends { readonly revision: number }>(
  document: Document | null,
  { revision }: Pick<RecordedEvent, 'revision'>,
): Document | null {
  return document && { ...document, revision };
}
