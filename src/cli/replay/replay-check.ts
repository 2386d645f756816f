import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { historyOfStream, listedEvent } from '#domain/histories.ts';
import { streamKeyOf } from '#domain/shared/entity.ts';
import type { RecordedEvent } from '#event-store/event-store.ts';
import { foldInMemory } from '#projection-engine/documents/fold-in-memory.ts';
import { projections } from '#projections/table.ts';
import type { Json } from '#shared/json/json.ts';
import { type FrozenEvent, readFrozenLog, storyOf } from './frozen-log.ts';

/** What today's code makes of a stream that ends with a frozen event. */
interface Replayed {
  /** The event as histories show it; null if none lists the event. */
  readonly history: { readonly resource: Json; readonly summary: string } | null;
  /** The documents of every read model that has any. */
  readonly documents: Json;
}

/** The result of a check, with one line for each frozen event that does not match. */
export interface ReplayCheck {
  readonly events: number;
  readonly streams: number;
  readonly differences: ReadonlyArray<string>;
}

/**
 * Replays the streams of a frozen log, which has every shape of every event, with today's code, and compares the result
 * with the kept records of each event.
 * @param fixtures the folder with `events/` and `records/`
 * @param writesMissing writes the records of events without any; existing ones never change
 */
export function checkReplay(fixtures: string, writesMissing: boolean): ReplayCheck {
  const log = readFrozenLog(join(fixtures, 'events'));
  const records = join(fixtures, 'records');
  const expected = existsSync(records) ? readdirSync(records) : [];
  const names = new Set(log.map(({ name }) => name));
  const differences = expected
    .filter((name) => !names.has(name))
    .map((name) => `${name}: records are kept of it, and it is not a frozen event any more`);
  for (const frozen of log) {
    const file = join(records, frozen.name);
    if (!existsSync(file) && writesMissing) {
      mkdirSync(records, { recursive: true });
      writeFileSync(file, `${JSON.stringify(replay(log, frozen), null, 2)}\n`);
    }
    const difference = differenceOf(frozen.name, () => replay(log, frozen), file);
    if (difference !== null) differences.push(difference);
  }
  return { events: log.length, streams: new Set(log.map(({ event }) => event.stream)).size, differences };
}

function differenceOf(name: string, run: () => Replayed, file: string): string | null {
  if (!existsSync(file)) return `${name}: no records are kept of it; run npm run replay -- check --write`;
  try {
    const found: unknown = JSON.parse(JSON.stringify(run()));
    const kept: unknown = JSON.parse(readFileSync(file, 'utf8'));
    return isDeepStrictEqual(found, kept) ? null : `${name}: ${placeOfDifference(kept, found)}`;
  } catch (error) {
    return `${name}: ${error}`;
  }
}

function placeOfDifference(kept: unknown, found: unknown, pointer = ''): string {
  if (isObject(kept) && isObject(found)) {
    for (const member of new Set([...Object.keys(kept), ...Object.keys(found)]))
      if (!isDeepStrictEqual(kept[member], found[member]))
        return placeOfDifference(kept[member], found[member], `${pointer}/${member}`);
  }
  return `${pointer} was ${JSON.stringify(kept) ?? 'not there'}, and is ${JSON.stringify(found) ?? 'not there'}`;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function replay(log: ReadonlyArray<FrozenEvent>, frozen: FrozenEvent): Replayed {
  const story = storyOf(log, frozen);
  const documents = projections
    .map((projection) => [projection.name, foldInMemory(projection, story)] as const)
    .filter(([, found]) => Object.keys(found).length > 0);
  return { history: historyOf(frozen.event, story), documents: Object.fromEntries(documents) as unknown as Json };
}

function historyOf({ stream, type, data }: RecordedEvent, story: ReadonlyArray<RecordedEvent>): Replayed['history'] {
  const history = historyOfStream(stream);
  const listed = history === null ? null : listedEvent(history, type);
  if (history === null || listed === null) return null;
  const { entity } = history;
  const state = story.reduce((before, event) => entity.evolve(before, event as never), entity.initial);
  return {
    resource: listed.resource(data, streamKeyOf(stream)) as unknown as Json,
    summary: listed.summary(data, state),
  };
}
