import { type AuditEntry, type EntryReads, type EventPlace, madeEvents } from './audit-entries.ts';

/** The places that are tried first, because their entries may be long. */
const firstPlaces = 25;
/** The most places that are tried at once. Events of one stream among them are read together. */
const maxPlaces = 200;

/** The most that the texts of some entries may take. */
export interface EntryTextLimits {
  readonly maxBytes: number;
  /** Whether the first text may be longer than that. */
  readonly mayExceed: boolean;
}

/** The texts of the entries of some events, in their order. */
interface EntryTexts {
  readonly texts: ReadonlyArray<string>;
  readonly bytes: number;
  /** The number of events that they cover, from the first. An event without an entry has no text. */
  readonly covered: number;
  /** Whether the next text did not fit. */
  readonly isCut: boolean;
}

/**
 * Makes the texts of the entries of events in parts, in the order of their places. Nothing is made beyond a part while
 * its consumer does something else.
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

/** Texts that do not fit are thrown away, so fewer are made than would fit by the average. */
function nextCount({ covered, bytes }: EntryTexts, { maxBytes }: EntryTextLimits): number {
  const fitting = Math.floor((0.8 * maxBytes * covered) / Math.max(bytes, 1));
  return Math.max(1, Math.min(fitting, 2 * covered, maxPlaces));
}

/** Makes the texts of the first events. Those that do not fit are dropped, from the last place, while others are made. */
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
