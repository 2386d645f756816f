import { tenantFilter } from '#application/operations/paging.ts';
import { isShownTo } from '#domain/history/audience.ts';
import type { ResourceKind } from '#domain/history/record.ts';
import type { Audience, Tenant } from '#domain/shared/access.ts';
import type { ReadStore } from '#read-store/read-store.ts';
import type { EventPlace } from './audit-entries.ts';

/** The read model in which past events are found. */
export const pastEventsCollection = 'audit';

/** An event that an audience may see. */
export interface PastEvent extends EventPlace {
  readonly type: string;
  readonly kind: ResourceKind;
  readonly resource: string;
}

/** Past events in the order of the log. */
export interface PastPart {
  readonly events: ReadonlyArray<PastEvent>;
  /** The position up to which events were read; null at the end. */
  readonly lookedUpTo: number | null;
}

interface AuditedEvent extends Tenant {
  readonly stream: string;
  readonly revision: number;
  readonly type: string;
  readonly kind: ResourceKind;
  readonly resource: string;
}

const partBytes = 256 * 1024;

/**
 * Reads events, oldest first, from the read model of the audit. A caller that needs all events up to a position first
 * waits until the read model has passed it.
 * @throws UnavailableError
 */
export async function pastEvents(
  documents: Pick<ReadStore, 'list'>,
  audience: Audience,
  after: number,
  limit: number,
): Promise<PastPart> {
  const page = await documents.list<AuditedEvent & Record<string, unknown>>(
    pastEventsCollection,
    tenantFilter(audience),
    {
      limit,
      maxBytes: partBytes,
      after: { order: after, id: String(after) },
    },
  );
  const events = page.documents.flatMap(({ order: position, value }) => {
    const { stream, revision, type, kind, resource } = value;
    return isShownTo(audience, value, kind) ? [{ position, stream, revision, type, kind, resource }] : [];
  });
  return { events, lookedUpTo: page.next?.order ?? null };
}
