import type { FlowVersion, HistoryActor, HistoryEvent } from '#dashboard/page/api/records.ts';

/** A version. A deleted one is known only from the history. */
export interface Station {
  readonly id: string;
  readonly number: number;
  /** Null for the default tag, which only repeats the number. */
  readonly tag: string | null;
  readonly createdAt: string;
  /** Null for a version whose creation the history does not show. */
  readonly createdBy: HistoryActor | null;
  readonly isActive: boolean;
  readonly activeSince: string | null;
  readonly restoredFrom: number | null;
  readonly deletedAt: string | null;
}

/** The branch of a restored version, at a station. */
export interface Branch {
  readonly starts: boolean;
  readonly passes: boolean;
  readonly ends: boolean;
}

const createdType = 'FlowVersionCreated';

/** All versions that ever existed, newest first. @param history newest first */
export function stationsOf(
  versions: ReadonlyArray<FlowVersion>,
  history: ReadonlyArray<HistoryEvent>,
): ReadonlyArray<Station> {
  const kept = new Map(versions.map((version) => [version.id, version]));
  const created = history.filter(({ type }) => type === createdType).flatMap((event) => createdVersion(event));
  const known = new Map(created.map((each) => [each.version.id, each]));
  const all = new Map<string, FlowVersion>(created.map(({ version }) => [version.id, version]));
  for (const version of versions) all.set(version.id, version);
  const numbers = new Map([...all.values()].map(({ id, version }) => [id, version]));
  return [...all.values()]
    .sort((one, other) => other.version - one.version)
    .map((version) => ({
      id: version.id,
      number: version.version,
      tag: version.tag === `v${version.version}` ? null : version.tag,
      createdAt: version.createdAt,
      createdBy: known.get(version.id)?.actor ?? null,
      isActive: kept.get(version.id)?.isActive ?? false,
      activeSince: lastEvent(history, 'FlowVersionActivated', version.id)?.time ?? null,
      restoredFrom: version.restoredFrom === undefined ? null : (numbers.get(version.restoredFrom) ?? null),
      deletedAt: kept.has(version.id)
        ? null
        : (lastEvent(history, 'FlowVersionDeleted', version.id)?.time ?? version.updatedAt),
    }));
}

function createdVersion({ changes, actor }: HistoryEvent) {
  const value = changes?.find(({ path }) => path === '')?.value;
  return typeof value === 'object' && value !== null ? [{ version: value as FlowVersion, actor }] : [];
}

function lastEvent(history: ReadonlyArray<HistoryEvent>, type: string, id: string): HistoryEvent | undefined {
  return history.find((event) => event.type === type && event.resource?.id === id);
}

/** The branches at each station. @param stations newest first */
export function branchesOf(stations: ReadonlyArray<Station>): ReadonlyArray<Branch> {
  const spans = stations.flatMap(({ number, restoredFrom }) =>
    restoredFrom === null ? [] : [{ from: restoredFrom, to: number }],
  );
  return stations.map(({ number }) => ({
    starts: spans.some(({ to }) => to === number),
    passes: spans.some(({ from, to }) => from < number && number < to),
    ends: spans.some(({ from }) => from === number),
  }));
}
