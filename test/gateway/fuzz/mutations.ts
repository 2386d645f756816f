import fc from 'fast-check';
import { isObject, type Json, type JsonObject } from '#shared/json/json.ts';
import type { AnswerEvent } from './provider-answers.ts';

/** A change of one value in an answer. */
export interface ValueMutation {
  /** Chooses the value: its number in the order of a walk, modulo the number of values. */
  readonly place: number;
  /** What it becomes; `remove` and `double` take its member or item away, or repeat it. */
  readonly change: Json | 'remove' | 'double';
}

/** A change of the order of a stream's events. */
export interface OrderMutation {
  readonly kind: 'drop' | 'repeat' | 'swap' | 'end-early';
  readonly place: number;
}

/** A change of the bytes of an answer. */
export interface ByteMutation {
  readonly kind: 'cut' | 'insert' | 'replace' | 'repeat-member';
  /** Where, from 0 to 1. */
  readonly at: number;
  readonly bytes: Buffer;
}

/** How a provider changes a valid answer. */
export interface Mutations {
  readonly values: ReadonlyArray<ValueMutation>;
  readonly order: ReadonlyArray<OrderMutation>;
  readonly bytes: ReadonlyArray<ByteMutation>;
}

const nested = (levels: number): Json => {
  let value: Json = 1;
  for (let level = 0; level < levels; level += 1) value = level % 2 === 0 ? [value] : { x: value };
  return value;
};

const oddValues: ReadonlyArray<Json> = [
  ...[null, true, false, 0, -1, 1.5, 1e308, Number.MAX_SAFE_INTEGER + 2, '', ' ', '[DONE]', 'tool_calls'],
  ...['\ud800', '\u0000', '\n\ndata: x', '</script>', 'x'.repeat(2_000), 'é'.repeat(70_000), 'é"'.repeat(400_000)],
  ...[[], {}, [null], [[]], { type: null }, { error: 'no' }, { error: { message: 1 } }, nested(200), nested(300)],
  Array.from({ length: 3_000 }, () => ({})),
];

const value: fc.Arbitrary<ValueMutation> = fc.record({
  place: fc.nat(),
  change: fc.oneof(
    fc.constantFrom<ValueMutation['change']>(...oddValues, 'remove', 'double'),
    fc.jsonValue() as fc.Arbitrary<Json>,
  ),
});

const order: fc.Arbitrary<OrderMutation> = fc.record({
  kind: fc.constantFrom('drop', 'repeat', 'swap', 'end-early'),
  place: fc.nat(),
});

const oddBytes = [
  '\xff\xfe',
  '\xed\xa0\x80',
  '\0',
  '\r',
  '\n\n',
  '\r\r',
  '{',
  ']',
  '"',
  ',',
  'data: ',
  '1e999',
  '\\u12',
  '\xef\xbb\xbf',
];

const bytes: fc.Arbitrary<ByteMutation> = fc.record({
  kind: fc.constantFrom('cut', 'insert', 'replace', 'repeat-member'),
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  bytes: fc.constantFrom(...oddBytes.map((text) => Buffer.from(text, 'latin1'))),
});

/** Few changes at a time: an answer with many is refused at its first. */
export const mutations: fc.Arbitrary<Mutations> = fc.record({
  values: fc.array(value, { maxLength: 2 }),
  order: fc.array(order, { maxLength: 2 }),
  bytes: fc.oneof({ weight: 2, arbitrary: fc.constant([]) }, fc.array(bytes, { maxLength: 2 })),
});

/** Applies the changes of values to one value. */
export function mutateValue(original: Json, changes: ReadonlyArray<ValueMutation>): Json {
  let mutated = structuredClone(original);
  for (const { place, change } of changes) {
    const places = placesIn(mutated);
    const chosen = places[place % Math.max(1, places.length)];
    if (chosen === undefined) return change === 'remove' || change === 'double' ? mutated : change;
    applyTo(chosen, change);
    mutated = structuredClone(mutated);
  }
  return mutated;
}

/** A member of an object or an item of a list that can be changed. */
interface MutablePlace {
  readonly inside: Record<string, Json> | Json[];
  readonly key: string;
}

function applyTo({ inside, key }: MutablePlace, change: ValueMutation['change']): void {
  const target = inside as Record<string, Json>;
  if (change === 'remove') delete target[key];
  else if (change !== 'double') target[key] = change;
  else if (Array.isArray(inside)) inside.push(structuredClone(target[key] as Json));
  else target[`${key}2`] = structuredClone(target[key] as Json);
}

function placesIn(value: Json): MutablePlace[] {
  if (typeof value !== 'object' || value === null) return [];
  const inside = value as Record<string, Json>;
  return Object.keys(inside).flatMap((key) => [{ inside, key }, ...placesIn(inside[key] as Json)]);
}

/** Applies the changes of values and of their order to a stream. */
export function mutateEvents(
  original: ReadonlyArray<AnswerEvent>,
  { values, order: orders }: Mutations,
): ReadonlyArray<Json> {
  const mutated: Json[] = [...original];
  for (const change of values) {
    const index = change.place % mutated.length;
    mutated[index] = mutateValue(mutated[index] as Json, [
      { ...change, place: Math.floor(change.place / mutated.length) },
    ]);
  }
  for (const { kind, place } of orders) {
    const index = place % Math.max(1, mutated.length);
    if (kind === 'drop') mutated.splice(index, 1);
    else if (kind === 'repeat') mutated.splice(index, 0, ...mutated.slice(index, index + 3));
    else if (kind === 'end-early') mutated.length = index;
    else mutated.push(...mutated.splice(index, 1));
  }
  return mutated;
}

/** Applies the changes of bytes. */
export function mutateBytes(original: Buffer, changes: ReadonlyArray<ByteMutation>): Buffer {
  return changes.reduce((mutated, { kind, at, bytes: inserted }) => {
    const place = Math.floor(at * mutated.length);
    const [before, after] = [mutated.subarray(0, place), mutated.subarray(place)];
    if (kind === 'cut') return before;
    if (kind === 'insert') return Buffer.concat([before, inserted, after]);
    if (kind === 'replace') return Buffer.concat([before, inserted, after.subarray(inserted.length)]);
    // A repeated member is allowed in JSON: the last one counts.
    return Buffer.from(mutated.toString('latin1').replace(/"(\w+)":/, '"$1":null,"$1":'), 'latin1');
  }, original);
}

/** Writes a stream. */
export function writeEvents(events: ReadonlyArray<Json>, lineEnd: string): Buffer {
  const written = events.map((event) => {
    const name = isObject(event) && typeof (event as JsonObject).type === 'string' ? (event.type as string) : null;
    const line = name === null || /[\r\n]/.test(name) ? '' : `event: ${name}${lineEnd}`;
    return `${line}data: ${typeof event === 'string' ? event : JSON.stringify(event)}${lineEnd}${lineEnd}`;
  });
  return Buffer.from(written.join(''));
}
