import { historyOfStream } from '#domain/histories.ts';
import type { AnyEntityHistory } from '#domain/history/listed-event.ts';
import type { AuditEntry, DescribedEvent } from '#domain/history/record.ts';
import { streamKeyOf } from '#domain/shared/entity.ts';
import { spendTurn, turn } from '#exchange/turns.ts';
import type { PersonalData } from '#personal-data/personal-data.ts';
import { currentWorkOwner } from '#shared/async/fair-queue.ts';
import { describeEvent } from './describe-event.ts';
import type { HistoryStep, StreamHistory } from './stream-history.ts';

/** The place of an event, whose stream gives the entry. */
export interface EventPlace {
  readonly position: number;
  readonly stream: string;
  readonly revision: number;
}

export interface EntryReads {
  readonly history: StreamHistory;
  readonly personalReader: PersonalData['readerOf'];
}

export interface AuditedEvent {
  readonly eventId: string;
  readonly entry: AuditEntry;
}

const maxChangesCharacters = 64 * 1024;

/**
 * Maximum number of events between two wanted ones that are folded in one pass. Beyond it, the second is found
 * separately.
 */
const maxSkipped = 100;

/**
 * Makes the entries in the order of their places. Events of one stream are read together.
 * @throws UnavailableError; UnreadableEventError for a stream that this release cannot read
 */
export async function auditEntries(
  reads: EntryReads,
  places: ReadonlyArray<EventPlace>,
): Promise<ReadonlyArray<AuditEntry>> {
  return (await auditedEvents(reads, places)).map(({ entry }) => entry);
}

/**
 * Finds the events in the order of their places.
 * @throws UnavailableError; UnreadableEventError for a stream that this release cannot read
 */
export async function auditedEvents(
  reads: EntryReads,
  places: ReadonlyArray<EventPlace>,
): Promise<ReadonlyArray<AuditedEvent>> {
  const byPosition = new Map<number, AuditedEvent>();
  for await (const made of madeEvents(reads, places)) byPosition.set(made.entry.position, made);
  return places.flatMap(({ position }) => byPosition.get(position) ?? []);
}

/**
 * Makes the events of one stream together and in its order.
 * @param isWanted asked again before each entry is made
 * @throws UnavailableError; UnreadableEventError for a stream that this release cannot read
 */
export async function* madeEvents(
  reads: EntryReads,
  places: ReadonlyArray<EventPlace>,
  isWanted: (place: EventPlace) => boolean = () => true,
): AsyncGenerator<AuditedEvent, void, void> {
  for (const [stream, all] of Map.groupBy(places, (place) => place.stream)) {
    const history = historyOfStream(stream);
    const wanted = all.filter(isWanted);
    if (history === null || wanted.length === 0) continue;
    const byRevision = new Map(wanted.map((place) => [place.revision, place]));
    const isRevisionWanted = (revision: number) => {
      const place = byRevision.get(revision);
      return place !== undefined && isWanted(place);
    };
    const revisions = [...byRevision.keys()];
    for await (const made of entriesOf(reads, history, stream, revisions, isRevisionWanted)) {
      const { revision, eventId, entry } = made;
      const position = byRevision.get(revision)?.position;
      if (position !== undefined) yield { eventId, entry: { position, ...entry } };
    }
  }
}

type EntryWithoutPosition = Omit<AuditEntry, 'position'>;

interface EntryOfStream {
  readonly revision: number;
  readonly eventId: string;
  readonly entry: EntryWithoutPosition;
}

async function* entriesOf(
  { history: streams, personalReader }: EntryReads,
  history: AnyEntityHistory,
  stream: string,
  revisions: ReadonlyArray<number>,
  isWanted: (revision: number) => boolean,
): AsyncGenerator<EntryOfStream, void, void> {
  // The key of a stream is used as its id here, even if the entity has a different form of ids.
  const entity = { ...history.entity, streamKey: (key: string) => key };
  const key = streamKeyOf(stream);
  const data = streams.dataReader(entity, key);
  const owner = currentWorkOwner();
  for (const { from, until } of runsOf(revisions)) {
    for await (const step of streams.steps(entity, key, from, until)) {
      if (!isWanted(step.event.revision)) continue;
      await turn(owner, 'audit', charactersOfEntry);
      const subject = personalSubjectOf(history, step);
      const open = await personalReader(subject === null ? [] : [subject]);
      const described = await describeEvent(history, step, { data, open, findKeyName: streams.keyNames.find });
      if (described === null) continue;
      const entry = withoutLongChanges(described);
      if (entry.changes === null) spendTurn(owner, 'audit', maxChangesCharacters);
      yield { revision: step.event.revision, eventId: step.event.id, entry };
    }
  }
}

/** The expected length of an entry before it is made. */
const charactersOfEntry = 1_024;

function personalSubjectOf({ personalSubject }: AnyEntityHistory, { after }: HistoryStep<unknown>): string | null {
  return personalSubject?.(after.state) ?? null;
}

/** Groups revisions that are read together. */
function* runsOf(revisions: ReadonlyArray<number>): Generator<{ readonly from: number; readonly until: number }> {
  const [first, ...others] = revisions.toSorted((one, other) => one - other);
  if (first === undefined) return;
  let run = { from: first, until: first };
  for (const revision of others) {
    if (revision - run.until <= maxSkipped) {
      run = { from: run.from, until: revision };
    } else {
      yield run;
      run = { from: revision, until: revision };
    }
  }
  yield run;
}

function withoutLongChanges(entry: DescribedEvent): EntryWithoutPosition {
  const isLong = JSON.stringify(entry.changes).length > maxChangesCharacters;
  return isLong ? { ...entry, changes: null, changesOmitted: true } : entry;
}

/** Number of places that are tried first, because their entries may be long. */
const firstPlaces = 25;
/** Maximum number of places that are tried together. Events of one stream among them are read together. */
const maxPlaces = 200;

export interface EntryTextLimits {
  readonly maxBytes: number;
  /** The first text may be longer than the limit. */
  readonly mayExceed: boolean;
}

/** The texts of entries in the order of the events. */
interface EntryTexts {
  readonly texts: ReadonlyArray<string>;
  readonly bytes: number;
  /** The number of events that the texts cover, from the first. An event without an entry has no text. */
  readonly covered: number;
  /** True if the next text did not fit. */
  readonly isCut: boolean;
}

/**
 * Makes the texts in parts, in the order of their places. Nothing is made beyond a part while its consumer does
 * something else.
 * @param nextLimits asked before each part; the texts end when the first one of a part does not fit
 * @throws as `auditedEvents`
 */
export async function* entryTexts(
  reads: EntryReads,
  places: ReadonlyArray<EventPlace>,
  textOf: (entry: AuditEntry) => string,
  nextLimits: () => EntryTextLimits,
): AsyncGenerator<EntryTexts, void, void> {
  let start = 0;
  for (let count = firstPlaces; start < places.length; ) {
    const limits = nextLimits();
    const made = await textsThatFit(reads, places.slice(start, start + count), textOf, limits);
    if (made.covered === 0) return;
    start += made.covered;
    count = nextCount(made, limits);
    yield made;
  }
}

/**
 * How many texts are made next. Texts that do not fit are thrown away, so fewer are made than would fit by the average.
 */
function nextCount({ covered, bytes }: EntryTexts, { maxBytes }: EntryTextLimits): number {
  const fitting = Math.floor((0.8 * maxBytes * covered) / Math.max(bytes, 1));
  return Math.max(1, Math.min(fitting, 2 * covered, maxPlaces));
}

/** Keeps the texts that fit. Others are dropped, from the last place, while more are made. */
async function textsThatFit(
  reads: EntryReads,
  places: ReadonlyArray<EventPlace>,
  textOf: (entry: AuditEntry) => string,
  { maxBytes, mayExceed }: EntryTextLimits,
): Promise<EntryTexts> {
  const indexes = new Map(places.map(({ position }, index) => [position, index]));
  const indexOf = (position: number) => indexes.get(position) ?? places.length;
  const texts = new Map<number, string>();
  const least = mayExceed ? 1 : 0;
  let covered = places.length;
  let bytes = 0;
  for await (const { entry } of madeEvents(reads, places, ({ position }) => indexOf(position) < covered)) {
    const text = textOf(entry);
    texts.set(indexOf(entry.position), text);
    bytes += Buffer.byteLength(text);
    while (bytes > maxBytes && covered > least) {
      covered -= 1;
      bytes -= Buffer.byteLength(texts.get(covered) ?? '');
      texts.delete(covered);
    }
  }
  const isCut = covered < places.length;
  return { texts: places.flatMap((_, index) => texts.get(index) ?? []), bytes, covered, isCut };
}
