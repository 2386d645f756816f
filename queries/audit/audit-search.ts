import type { EventPlace } from '#application/history/audit-entries.ts';
import type { EventFilters } from '#application/history/history-page.ts';
import { type CollectionReader, readInTurn, tenantFilter } from '#application/operations/paging.ts';
import { batch } from '#domain/batch/batch.ts';
import { file } from '#domain/file/file.ts';
import { isShownTo } from '#domain/history/audience.ts';
import { type ResourceKind, resourceKinds } from '#domain/history/record.ts';
import type { Caller } from '#domain/shared/access.ts';
import { parentId } from '#domain/shared/entity.ts';
import type { AuditDocument } from '#projections/audit.ts';
import type { PageKey, PageRequest, Where } from '#read-store/read-store.ts';
import type { StoredDocument } from '#read-store/stored-document.ts';

export interface AuditSearch extends EventFilters {
  /** The id of a resource, or a kind of resource. */
  readonly resource?: string;
}

/** A part of a search, and the place where the next part begins. */
export interface AuditPart {
  readonly found: ReadonlyArray<EventPlace>;
  /** Null at the end. */
  readonly next: PageKey | null;
}

const maxDocumentsPerRead = 1_000;
const maxBytesPerRead = 1024 * 1024;
/** Maximum number of documents that one part of a search reads if it finds few entries. */
const maxSeen = 10_000;

/**
 * The clocks of nodes differ, so times do not always grow with positions. A search ends at an entry that is a day older
 * than `since`.
 */
const clockToleranceMs = 24 * 60 * 60 * 1000;

/** Finds the newest entries first. @throws UnavailableError */
export async function searchAudit(
  audit: CollectionReader,
  caller: Caller,
  search: AuditSearch,
  from: PageKey | null,
  limit: number,
): Promise<AuditPart> {
  const where = await indexedCondition(audit, caller, search);
  const fits = filterOf(caller, search);
  const oldest = search.since === undefined ? '' : shifted(search.since, -clockToleranceMs);
  const found: EventPlace[] = [];
  let after = from ?? (await placeBefore(audit, where, search.until));
  for (let seen = 0; seen < maxSeen; ) {
    const request: PageRequest = {
      // A narrow search reads more and more in one step.
      limit: Math.min(maxDocumentsPerRead, Math.max(limit, seen)),
      maxBytes: maxBytesPerRead,
      newestFirst: true,
      ...(after && { after }),
    };
    const { documents, next } = await readInTurn<AuditDocument>(audit, where, request);
    for (const document of documents) {
      const { order, value } = document;
      if (value.time < oldest) return { found, next: null };
      if (fits(value)) found.push({ position: order, stream: value.stream, revision: value.revision });
      if (found.length >= limit) return { found, next: isLast(document, documents) ? next : placeOf(document) };
    }
    if (next === null) return { found, next };
    seen += documents.length;
    after = next;
  }
  return { found, next: after };
}

const placeOf = ({ order, id }: StoredDocument<AuditDocument>): PageKey => ({ order, id });

const isLast = (document: object, documents: ReadonlyArray<object>) => documents.at(-1) === document;

/** The part of the search that an index supports. */
async function indexedCondition(
  audit: CollectionReader,
  caller: Caller,
  { resource, actor }: AuditSearch,
): Promise<Where> {
  if (resource !== undefined && !isKind(resource)) return { streamKey: await streamKeyOfResource(audit, resource) };
  return actor === undefined ? tenantFilter(caller) : { actor };
}

/**
 * Most resources have a stream of their own; a version is in that of its flow or template, an agent profile in that of
 * its project.
 */
async function streamKeyOfResource(audit: CollectionReader, id: string): Promise<string> {
  // Files and batches have prefixed ids, which their streams do not have; other ids stay as they are.
  const own = batch.streamKey(file.streamKey(id));
  const hasOwnStream = (await newestBefore(audit, { streamKey: own }, null)) !== null;
  return hasOwnStream ? own : parentId(id);
}

/** True if the entry is about the resource itself, or about a version of it. */
function concerns({ kind, resource, streamKey }: AuditDocument, id: string): boolean {
  return resource === id || (streamKey === id && (kind === 'flow-version' || kind === 'template-version'));
}

function filterOf(caller: Caller, { resource, type, actor, since, until }: AuditSearch) {
  return (entry: AuditDocument): boolean => {
    if (!isShownTo(caller, entry, entry.kind)) return false;
    if (resource !== undefined && !(isKind(resource) ? entry.kind === resource : concerns(entry, resource)))
      return false;
    if (type !== undefined && entry.type !== type) return false;
    if (actor !== undefined && entry.actor !== actor) return false;
    return (since === undefined || entry.time >= since) && (until === undefined || entry.time < until);
  };
}

function isKind(resource: string): resource is ResourceKind {
  return (resourceKinds as ReadonlyArray<string>).includes(resource);
}

/**
 * The place before which entries are older than the time; null for the newest place. A binary search: no index is by
 * time.
 */
async function placeBefore(audit: CollectionReader, where: Where, until: string | undefined): Promise<PageKey | null> {
  if (until === undefined) return null;
  const end = shifted(until, clockToleranceMs);
  const newest = await newestBefore(audit, where, null);
  if (newest === null || newest.value.time < end) return null;
  let [low, high] = [0, newest.order];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const entry = await newestBefore(audit, where, middle + 1);
    if (entry === null || entry.value.time < end) low = middle + 1;
    else high = Math.min(middle, entry.order);
  }
  return { order: low, id: '' };
}

async function newestBefore(
  audit: CollectionReader,
  where: Where,
  position: number | null,
): Promise<StoredDocument<AuditDocument> | null> {
  const after = position === null ? {} : { after: { order: position, id: '' } };
  const { documents } = await audit.list<AuditDocument>(where, { limit: 1, maxBytes: 1, newestFirst: true, ...after });
  return documents[0] ?? null;
}

function shifted(time: string, milliseconds: number): string {
  return new Date(Date.parse(time) + milliseconds).toISOString();
}
