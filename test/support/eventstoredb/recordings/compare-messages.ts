import assert from 'node:assert/strict';
import type { PositionMap } from './position-map.ts';
import type { Json, JsonMessage } from './recordings.ts';

const positions = new Set(['commitposition', 'prepareposition']);

/** Every server creates its own values of these members, so only their presence is compared. */
const ownValues = new Set(['created', 'subscriptionid', 'instanceid', 'timestamp', 'port', 'correlationid']);

/** Old fields, which the stubs cannot write completely and no current client reads. */
const ignoredMembers = new Set([
  'currentrevision2060',
  'expectedrevision2060',
  'nostream2060',
  'any2060',
  'streamexists2060',
]);

/**
 * Compares an answer with the recorded one, as the recordings' README says.
 * @throws AssertionError
 */
export function assertSameMessage(recorded: Json, actual: Json, map: PositionMap): void {
  pairPositions(recorded, actual, map);
  assert.deepEqual(normalised(actual), normalised(recorded));
}

function pairPositions(recorded: Json, actual: Json, map: PositionMap): void {
  if (!isObject(recorded) || !isObject(actual)) return;
  const byLowerCase = new Map(Object.entries(actual).map(([key, value]) => [key.toLowerCase(), value]));
  for (const [key, value] of Object.entries(recorded)) {
    const other = byLowerCase.get(key.toLowerCase());
    if (other === undefined) continue;
    if (positions.has(key.toLowerCase())) map.pair(String(value), String(other));
    else pairPositions(value, other, map);
  }
}

function normalised(json: Json): Json {
  if (Array.isArray(json)) return json.map(normalised);
  if (!isObject(json)) return typeof json === 'number' ? String(json) : json;
  const isServersOwn = isEventOfServer(json);
  const entries = Object.entries(json).flatMap(([name, value]): [string, Json][] => {
    const key = name.toLowerCase();
    if (ignoredMembers.has(key)) return [];
    if (positions.has(key) || ownValues.has(key) || (isServersOwn && key === 'id')) return [[key, 'any']];
    return [[key, normalised(value)]];
  });
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** A `$metadata` written by a delete, or a `$streamDeleted`: their ids are the server's. */
function isEventOfServer(json: JsonMessage): boolean {
  const { metadata } = json;
  return isObject(metadata) && (metadata.type === '$metadata' || metadata.type === '$streamDeleted');
}

function isObject(json: Json | undefined): json is JsonMessage {
  return typeof json === 'object' && json !== null && !Array.isArray(json);
}
