import type { UsageEntry, UsageEvents } from '#domain/usage/events.ts';
import { addUsage, sumsOf, type UsageSums } from '#domain/usage/usage-total.ts';
import { type PeriodLength, periodOf } from './period.ts';
import { knownTenantOf, rollupsOf, rowOf, type UsageGroup } from './usage-group.ts';

/** What an event adds to one document, or to which it sets the document. */
export interface UsageShare {
  readonly group: UsageGroup;
  /** Only for a closed day: its first moment. */
  readonly period: string;
  readonly sums: UsageSums;
  /** Only for a sum over rows: the documents of the rows with entries in the event. */
  readonly rows: ReadonlySet<string>;
  /** The key whose document has the owner of the group; null if the group names its owner, or has none. */
  readonly keyOfOwner: string | null;
}

export function documentId(period: string, series: string): string {
  return `${period}\n${series}`;
}

/** The first moment of the document's period. @param id of the document */
export function periodOfDocument(id: string): string {
  return id.slice(0, id.indexOf('\n'));
}

type Shares = ReadonlyMap<string, UsageShare>;

/** Shares by the data of events. They are needed once to find the documents, and once for each document. */
const ofRecorded = new WeakMap<object, Shares>();
const ofClosed = new WeakMap<object, Map<PeriodLength, Shares>>();

/** The shares by series. Periods of all lengths get the same. */
export function sharesOfRecorded(data: UsageEvents['UsageRecorded']): Shares {
  const known = ofRecorded.get(data);
  if (known !== undefined) return known;
  const made = shares(
    data.usage.map((entry) => ({ entry, period: '' })),
    data.relativeAccuracy,
    (_, series) => series,
  );
  ofRecorded.set(data, made);
  return made;
}

/** The shares by the ids of documents; for sums over rows, the totals of these rows. */
export function sharesOfClosed(length: PeriodLength, data: UsageEvents['UsageDayClosed']): Shares {
  const byLength = ofClosed.get(data) ?? new Map<PeriodLength, Shares>();
  ofClosed.set(data, byLength);
  const known = byLength.get(length);
  if (known !== undefined) return known;
  const entries = data.usage.map((entry) => ({ entry, period: periodOf(length, entry.hour) }));
  const made = shares(entries, data.relativeAccuracy, documentId);
  byLength.set(length, made);
  return made;
}

function shares(
  entries: ReadonlyArray<{ readonly entry: UsageEntry; readonly period: string }>,
  accuracy: number,
  idOf: (period: string, series: string) => string,
): Shares {
  const found = new Map<
    string,
    { group: UsageGroup; period: string; sums: UsageSums; rows: Set<string>; keyOfOwner: string | null }
  >();
  for (const { entry, period } of withNamedOwners(entries)) {
    const sums = sumsOf(entry, accuracy);
    const row = rowOf(entry);
    const rowId = idOf(period, row.series);
    for (const group of [row, ...rollupsOf(entry)]) {
      const id = idOf(period, group.series);
      const share = found.get(id);
      const keyOfOwner = entry.organizationId === null && !group.rollup.startsWith('all') ? entry.keyId : null;
      if (share === undefined) found.set(id, { group, period, sums, rows: new Set([rowId]), keyOfOwner });
      else {
        share.sums = addUsage(share.sums, sums);
        share.rows.add(rowId);
      }
    }
  }
  return found;
}

/**
 * An entry without an owner gets the owner that another entry of the same key names. A closed day may have both, and
 * then all of its rows must count in the same sums.
 */
function withNamedOwners<Entry extends { readonly entry: UsageEntry }>(
  entries: ReadonlyArray<Entry>,
): ReadonlyArray<Entry> {
  const isUnnamed = ({ entry }: Entry) => entry.organizationId === null;
  if (!entries.some(isUnnamed)) return entries;
  const owners = new Map(
    entries.filter((each) => !isUnnamed(each)).map(({ entry }) => [entry.keyId, knownTenantOf(entry)] as const),
  );
  return entries.map((each) =>
    isUnnamed(each) ? { ...each, entry: { ...each.entry, ...owners.get(each.entry.keyId) } } : each,
  );
}
