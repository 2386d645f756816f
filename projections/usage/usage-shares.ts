import type { UsageEntry, UsageEvents } from '#domain/usage/events.ts';
import { addUsage, sumsOf, type UsageSums } from '#domain/usage/usage-sums.ts';
import { type PeriodLength, periodOf } from './period.ts';
import { rollupsOf, rowOf, type UsageGroup } from './usage-group.ts';

/** What an event adds to one document, or sets it to. */
export interface UsageShare {
  readonly group: UsageGroup;
  /** Of a closed day: the first moment of the period. */
  readonly period: string;
  readonly sums: UsageSums;
  /** Of a sum over rows: the documents of those that the event has entries of. */
  readonly rows: ReadonlySet<string>;
}

/** The id of a document. */
export function documentId(period: string, series: string): string {
  return `${period}\n${series}`;
}

/** The first moment of a document's period. @param id of the document */
export function periodOfDocument(id: string): string {
  return id.slice(0, id.indexOf('\n'));
}

type Shares = ReadonlyMap<string, UsageShare>;

/** By the data of events: shares are asked for once to know the documents, and once for each of them. */
const ofRecorded = new WeakMap<object, Shares>();
const ofClosed = new WeakMap<object, Map<PeriodLength, Shares>>();

/** What a window of calls adds, by series: periods of all lengths get the same. */
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

/** What a closed day sets rows to, by the ids of documents; of sums over rows, what these rows come to. */
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
  const found = new Map<string, { group: UsageGroup; period: string; sums: UsageSums; rows: Set<string> }>();
  for (const { entry, period } of entries) {
    const sums = sumsOf(entry, accuracy);
    const row = rowOf(entry);
    const rowId = idOf(period, row.series);
    for (const group of [row, ...rollupsOf(entry)]) {
      const id = idOf(period, group.series);
      const share = found.get(id);
      if (share === undefined) found.set(id, { group, period, sums, rows: new Set([rowId]) });
      else {
        share.sums = addUsage(share.sums, sums);
        share.rows.add(rowId);
      }
    }
  }
  return found;
}
