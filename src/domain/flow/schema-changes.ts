import { isDeepStrictEqual } from 'node:util';
import { describeItemChanges, type Items, itemChanges, listed } from '#domain/history/item-changes.ts';
import { isObject, type Json, type JsonObject } from '#shared/json/json.ts';

/**
 * Describes the changes as sentences. For graphs they name the added, changed and removed nodes, matched by id; for
 * other schemas the members.
 */
export function describeSchemaChanges(before: Json, after: Json): ReadonlyArray<string> {
  const [nodesBefore, nodesAfter] = [nodesOf(before), nodesOf(after)];
  if (nodesBefore === null || nodesAfter === null) return describeMembers(before, after);
  const nodes = describeItemChanges('Nodes', itemChanges(nodesBefore, nodesAfter));
  const others = changedMembers(before as JsonObject, after as JsonObject).filter((name) => name !== 'nodes');
  return others.length === 0 ? nodes : [...nodes, `Also changed: ${listed(others)}.`];
}

/** The nodes of a graph schema, by id; null for any other schema. */
function nodesOf(schema: Json): Items | null {
  const nodes = isObject(schema) ? schema.nodes : undefined;
  if (Array.isArray(nodes)) return nodesOfList(nodes);
  return isObject(nodes) ? new Map(Object.entries(nodes as JsonObject) as [string, Json][]) : null;
}

function nodesOfList(nodes: ReadonlyArray<Json>): Items | null {
  const entries = nodes.map((node) => [isObject(node) ? node.id : undefined, node] as const);
  const isGraph = entries.every(([id]) => typeof id === 'string');
  return isGraph
    ? new Map(entries as ReadonlyArray<readonly [unknown, Json]> as ReadonlyArray<readonly [string, Json]>)
    : null;
}

function describeMembers(before: Json, after: Json): ReadonlyArray<string> {
  if (!isObject(before) || !isObject(after)) return ['The whole schema was replaced.'];
  return [`Members changed: ${listed(changedMembers(before as JsonObject, after as JsonObject))}.`];
}

function changedMembers(before: JsonObject, after: JsonObject): ReadonlyArray<string> {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names.filter((name) => !isDeepStrictEqual(memberOf(before, name), memberOf(after, name)));
}

const memberOf = (object: JsonObject, name: string) => (Object.hasOwn(object, name) ? object[name] : undefined);
