import type { ApiKeyEvents } from '#domain/api-key/events.ts';
import type { UsageEvents } from '#domain/usage/events.ts';
import { addUsage, noUsage, type UsageSums } from '#domain/usage/usage-total.ts';
import { ignored, type ProjectedEventOf, type Projection, projection } from '#projection-engine/projection.ts';
import { chunkOf, emptiedSlot, minKeptMs, type PeriodLength, periodOf, slotOf } from './period.ts';
import { knownTenantOf, type NullableTenant, ownerGroup, seriesOf, type UsageGroup, withOwner } from './usage-group.ts';
import { documentId, sharesOfClosed, sharesOfRecorded, type UsageShare } from './usage-shares.ts';

export interface UsageDocument extends UsageGroup {
  readonly period: string;
  /** Periods of a chunk are listed together. */
  readonly chunk: string;
  /** The document is removed with it; null if it is kept permanently. */
  readonly slot: number | null;
  readonly sums: UsageSums;
  /**
   * Set for a row of a closed day: the event that has closed the day, and its change of the sums; null if it changed
   * nothing.
   */
  readonly closed?: { readonly position: number; readonly change: UsageSums | null };
}

/** Usage, and the owners of keys: events of release 0.2.0 name a key without its owner. */
type Events = UsageEvents & Pick<ApiKeyEvents, 'ApiKeyCreated'>;

type UsageProjection = Projection<UsageDocument, Events>;
type Recorded = ProjectedEventOf<Pick<UsageEvents, 'UsageRecorded'>>;
type Closed = ProjectedEventOf<Pick<UsageEvents, 'UsageDayClosed'>>;
type DocumentBefore = (id: string) => UsageDocument | null;

/** Usage by the minute, kept for two days. No day is closed so early. */
export const usageByMinute = usageBy('minute');
export const usageByQuarterHour = usageBy('quarter-hour');
/** Usage by the hour, kept for 90 days, and usage by the day, kept permanently. */
export const usageByHour = usageBy('hour');
export const usageByDay = usageBy('day');

export const usageByPeriod: Readonly<Record<PeriodLength, UsageProjection>> = {
  minute: usageByMinute,
  'quarter-hour': usageByQuarterHour,
  hour: usageByHour,
  day: usageByDay,
};

/**
 * Counts usage in rows and sums of rows (`usage-group.ts`). A window counts in the period in which it ended, whenever
 * its event is stored and whichever node it is from. A closed day sets rows to the figures in `UsageDayClosed`, and
 * changes the sums over them by the same differences. So both are the same with and without the archived events.
 */
function usageBy(length: PeriodLength): UsageProjection {
  const add = (document: UsageDocument | null, { data }: Recorded, id: string, before: DocumentBefore) => {
    const period = periodOf(length, data.until);
    const share = sharesOfRecorded(data).get(id.slice(period.length + 1));
    const group = share === undefined ? null : ownedGroup(share, before);
    return share === undefined || group === null
      ? document
      : documentOf(length, document, { group, period }, share.sums);
  };
  const passesOver = length === 'minute' || length === 'quarter-hour';
  return projection<UsageDocument, Events>({
    name: `usage-by-${length}`,
    version: 4,
    keys: (event) => keysOf(length, event),
    on: {
      ApiKeyCreated: (_, { data, metadata }) =>
        ownerDocument(data.id, knownTenantOf({ ...data, partnerId: metadata.partnerId })),
      UsageRecorded:
        minKeptMs(length) === null
          ? add
          : { removeWhere: ({ data }) => ({ slot: emptiedSlot(length, data.until) }), handle: add },
      UsageDayClosed: passesOver
        ? ignored
        : (document, event, id, before) => close(length, document, event, id, before),
    },
    indexes: [
      ['series', 'chunk'],
      ['rollup', 'chunk'],
      ['rollup', 'partnerId', 'chunk'],
      ['rollup', 'organizationId', 'chunk'],
      ['rollup', 'projectId', 'chunk'],
      ['slot'],
    ],
  });
}

/** There are no rows by the minute, because no bill needs them. */
function hasRows(length: PeriodLength): boolean {
  return length === 'hour' || length === 'day';
}

function keysOf(length: PeriodLength, event: ProjectedEventOf<Events>): ReadonlyArray<string> {
  if (event.type === 'ApiKeyCreated') return [ownerId(event.data.id)];
  if (event.type === 'UsageDayClosed') {
    const shares = sharesOfClosed(length, event.data);
    return [...shares.keys(), ...ownersOf(shares.values())];
  }
  const period = periodOf(length, event.data.until);
  const ids: string[] = [];
  const shares = sharesOfRecorded(event.data);
  for (const [series, { group }] of shares) {
    if (hasRows(length) || group.rollup !== 'row') ids.push(documentId(period, series));
  }
  ids.push(...ownersOf(shares.values()));
  return ids;
}

function ownerId(keyId: string): string {
  return documentId('', seriesOf('owner', keyId));
}

/** Finds the documents with owners that the shares need. */
function ownersOf(shares: Iterable<UsageShare>): ReadonlySet<string> {
  return new Set([...shares].flatMap(({ keyOfOwner }) => (keyOfOwner === null ? [] : [ownerId(keyOfOwner)])));
}

function ownerDocument(keyId: string, owner: NullableTenant): UsageDocument {
  return { ...ownerGroup(keyId, owner), period: '', chunk: '', slot: null, sums: noUsage };
}

/** Adds the owner to the group; null if it is an owner's sum and the owner has none, or is unknown. */
function ownedGroup({ group, keyOfOwner }: UsageShare, before: DocumentBefore): UsageGroup | null {
  if (keyOfOwner === null) return group;
  return withOwner(group, knownTenantOf(before(ownerId(keyOfOwner)) ?? group));
}

function documentOf(
  length: PeriodLength,
  document: UsageDocument | null,
  { group, period }: Pick<UsageShare, 'group' | 'period'>,
  added: UsageSums,
): UsageDocument {
  if (document !== null) return { ...document, sums: addUsage(document.sums, added) };
  return { ...group, period, chunk: chunkOf(length, period), slot: slotOf(length, period), sums: added };
}

function close(
  length: PeriodLength,
  document: UsageDocument | null,
  { data, position }: Closed,
  id: string,
  before: DocumentBefore,
): UsageDocument | null {
  const shares = sharesOfClosed(length, data);
  const share = shares.get(id);
  const group = share === undefined ? null : ownedGroup(share, before);
  if (share === undefined || group === null) return document;
  if (group.rollup === 'row') return closedRow(length, document, { ...share, group }, position);
  let changed = document;
  for (const rowId of share.rows) {
    const row = shares.get(rowId);
    const change = row === undefined ? null : changeOf(before(rowId), row.sums, position);
    if (change !== null) changed = documentOf(length, changed, { ...share, group }, change);
  }
  return changed;
}

function closedRow(
  length: PeriodLength,
  document: UsageDocument | null,
  share: UsageShare,
  position: number,
): UsageDocument {
  const change = changeOf(document, share.sums, position);
  const closed = { position, change };
  return { ...documentOf(length, document, share, noUsage), sums: share.sums, closed };
}

/**
 * The change that a closed day makes; null if it makes none.
 * @param row before the event; or after it, if an interrupted commit is being completed, which the row itself shows
 */
function changeOf(row: UsageDocument | null, sums: UsageSums, position: number): UsageSums | null {
  if (row?.closed?.position === position) return row.closed.change;
  const change = addUsage(sums, row?.sums ?? noUsage, -1);
  return isNothing(change) ? null : change;
}

/** Sums of seconds and costs differ by so little when they are added in another order. */
const hair = 1e-6;

function isNothing({
  cost,
  audioSeconds,
  operations,
  failedTries,
  total,
  firstContent,
  ...counts
}: UsageSums): boolean {
  return (
    Object.values(counts).every((count) => count === 0) &&
    Math.abs(cost ?? 0) < hair &&
    Math.abs(audioSeconds) < hair &&
    Object.keys(operations).length === 0 &&
    Object.keys(failedTries).length === 0 &&
    total.length === 0 &&
    firstContent.length === 0
  );
}
