import * as E from 'fp-ts/lib/Either.js';
import type { Failure } from '#domain/shared/failure.ts';
import { scanJsonObject } from '#exchange/json-body.ts';
import { largeBodyBytes, turn } from '#exchange/turns.ts';
import type { Unsupported } from '#gateway/neutral/conversation.ts';
import { currentWorkOwner } from '#shared/async/fair-queue.ts';
import { isObject, type Json, type JsonObject } from '#shared/json/json.ts';
import { JsonScanner } from '#shared/json/json-scanner.ts';
import { maxForeignValues } from './foreign-json.ts';
import { compilePaths, type FoundPlace, maxPlaces, PlaceFinder } from './json-places.ts';
import type { LongTexts } from './long-texts.ts';
import type { PathPattern } from './path-tree.ts';
import { applyEdits, type Edit, inPlace } from './splice.ts';

/** A JSON text inside a value, which is written as it is. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A value to write. A member that is undefined is left out. */
export type WritableJson =
  | Json
  | JsonText
  | ReadonlyArray<WritableJson>
  | { readonly [member: string]: WritableJson | undefined };

/** Texts (`JsonText`) are written as they are. */
export function writeJson(value: WritableJson): string {
  if (value instanceof JsonText) return value.text;
  if (Array.isArray(value)) return `[${value.map(writeJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value as Readonly<Record<string, WritableJson | undefined>>);
  const written = members.flatMap(([name, member]) =>
    member === undefined ? [] : [`${JSON.stringify(name)}:${writeJson(member)}`],
  );
  return `{${written.join(',')}}`;
}

interface ParseOptions {
  readonly maxValues: number;
  /** Texts that hold JSON themselves: they are never cut, and count with the kept values. */
  readonly jsonInTexts?: ReadonlyArray<PathPattern>;
  /** Takes the long texts out. Default: they stay. */
  readonly longTexts?: LongTexts | undefined;
}

/** Maximum size of all schemas and arguments of one request: each is moved as one text. */
const maxKeptBytes = 8 * 1024 * 1024;

/**
 * Parses a JSON object, but for the values at some paths: each becomes a `JsonText` with its bytes as they are. A parser
 * would write numbers in another way.
 */
export async function parseKeepingText(
  bytes: Buffer,
  paths: ReadonlyArray<PathPattern>,
  { maxValues, jsonInTexts = [], longTexts }: ParseOptions,
): Promise<E.Either<Failure | Unsupported, JsonObject>> {
  const finder = new PlaceFinder(bytes, compilePaths([...paths, ...jsonInTexts]));
  const scanned = await scanJsonObject(bytes, maxValues, longTexts?.finderIn(bytes, finder) ?? finder);
  if (E.isLeft(scanned)) return scanned;
  const keptBytes = finder.found.reduce((sum, { valueStart, end }) => sum + end - valueStart, 0);
  if (keptBytes > maxKeptBytes || finder.isOverflown) return tooMuchKept;
  const kept = finder.found.filter(({ pattern }) => paths.includes(pattern));
  if (bytes.length > largeBodyBytes) await turn(currentWorkOwner(), 'body', bytes.length);
  return E.right(parseCut(bytes, paths, kept, longTexts?.cutsOutside(finder.found) ?? []) as JsonObject);
}

const tooMuchKept = E.left({
  pointer: '',
  message: `schemas and arguments of tools are translated up to ${maxKeptBytes} bytes and ${maxPlaces} of them`,
});

/**
 * Parses as `parseKeepingText` does, in one turn, for an answer that was parsed before. Null if it is not a JSON
 * object.
 */
export function parseAnswerKeepingText(bytes: Buffer, paths: ReadonlyArray<PathPattern>): JsonObject | null {
  const finder = new PlaceFinder(bytes, compilePaths(paths));
  const scanner = new JsonScanner(bytes, { maxValues: maxForeignValues }, finder);
  while (!scanner.advance());
  if (scanner.fault !== null) return null;
  const value = parseCut(bytes, paths, finder.found, []);
  return isObject(value) ? value : null;
}

/** The text at one of the kept paths; null for null and for a missing value. */
export function keptText(value: Json | undefined): string | null {
  if (value === undefined || value === null) return null;
  if (!(value instanceof JsonText)) return JSON.stringify(value);
  return value.text === 'null' ? null : value.text;
}

/** Parses the text without the kept values, and puts each into its place. */
function parseCut(
  bytes: Buffer,
  paths: ReadonlyArray<PathPattern>,
  kept: ReadonlyArray<FoundPlace>,
  cuts: ReadonlyArray<Edit>,
): Json {
  const edits = kept.map(({ valueStart, end }, index) => ({ start: valueStart, end, text: `"${index}"` }));
  const value: Json = JSON.parse(applyEdits(bytes, inPlace([...edits, ...cuts])).toString('utf8'));
  const textAt = (index: number): JsonText | undefined => {
    const place = kept[index];
    return place && new JsonText(bytes.toString('utf8', place.valueStart, place.end));
  };
  if (kept.length > 0) for (const path of paths) putTexts(value, path, textAt);
  return value;
}

/** Puts kept texts in place of their numbers. All that is at these paths is such a number, or was not found. */
function putTexts(value: Json, [key, ...below]: PathPattern, textAt: (index: number) => JsonText | undefined): void {
  if (typeof value !== 'object' || value === null || value instanceof JsonText || key === undefined) return;
  if ((key === '*') !== Array.isArray(value)) return;
  const inside = value as Record<string, Json>;
  for (const name of key === '*' ? Object.keys(value) : Object.hasOwn(inside, key) ? [key] : []) {
    const member = inside[name];
    if (below.length > 0) putTexts(member as Json, below, textAt);
    else if (typeof member === 'string') inside[name] = (textAt(Number(member)) ?? member) as unknown as Json;
  }
}
