import * as E from 'fp-ts/lib/Either.js';
import type { Failure } from '#domain/shared/failure.ts';
import { scanJsonObject } from '#exchange/json-body.ts';
import { heavyWork, largeBodyBytes } from '#shared/async/event-loop-budget.ts';
import { isObject, type Json, type JsonObject } from '#shared/json/json.ts';
import { JsonScanner } from '#shared/json/json-scanner.ts';
import { maxForeignValues, parseForeign } from './foreign-json.ts';
import { type FoundPlace, PlaceFinder } from './json-places.ts';
import type { PathPattern } from './path-tree.ts';
import { applyEdits, asciiJson } from './splice.ts';

/** A JSON text inside a value, which is written as it is. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A JSON value in which some values are texts. A member that is undefined is left out. */
export type WritableJson =
  | Json
  | JsonText
  | ReadonlyArray<WritableJson>
  | { readonly [member: string]: WritableJson | undefined };

/** Writes a value as JSON, and the texts in it as they are. */
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

/**
 * Parses a JSON object, but for the values at some paths: each becomes a string with its JSON text, byte for byte. A
 * parser would write numbers in another way.
 * @param maxValues the most values in the body
 */
export async function parseKeepingText(
  bytes: Buffer,
  paths: ReadonlyArray<PathPattern>,
  maxValues: number,
): Promise<E.Either<Failure, JsonObject>> {
  const finder = new PlaceFinder(bytes, pathsIn(bytes, paths));
  const scanned = await scanJsonObject(bytes, maxValues, finder);
  if (E.isLeft(scanned)) return scanned;
  if (bytes.length > largeBodyBytes) await heavyWork.take(1);
  return E.right(JSON.parse(withTexts(bytes, finder.found)) as JsonObject);
}

/** As `parseKeepingText`, in one turn, for an answer that was parsed before. Returns null if it is not a JSON object. */
export function parseAnswerKeepingText(bytes: Buffer, paths: ReadonlyArray<PathPattern>): JsonObject | null {
  const finder = new PlaceFinder(bytes, pathsIn(bytes, paths));
  const scanner = new JsonScanner(bytes, { maxValues: maxForeignValues }, finder);
  while (!scanner.advance());
  if (scanner.fault !== null) return null;
  const value = parseForeign(withTexts(bytes, finder.found));
  return isObject(value) ? value : null;
}

/** The paths whose last name is in a text as it is. A name that is spelled with escapes is found by its type: see `keptText`. */
function pathsIn(bytes: Buffer, paths: ReadonlyArray<PathPattern>): ReadonlyArray<PathPattern> {
  return paths.filter((path) => bytes.includes(`"${path.at(-1)}"`));
}

/** The JSON text of a value at one of the kept paths; null for a missing value. */
export function keptText(value: Json | undefined): string | null {
  if (value === undefined || value === null) return null;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function withTexts(bytes: Buffer, places: ReadonlyArray<FoundPlace>): string {
  if (places.length === 0) return bytes.toString('utf8');
  const edits = places.map(({ valueStart, end }) => ({
    start: valueStart,
    end,
    text: asciiJson(bytes.toString('utf8', valueStart, end)),
  }));
  return applyEdits(bytes, edits).toString('utf8');
}
