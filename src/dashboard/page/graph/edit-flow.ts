import { isRecord } from '#dashboard/page/graph/flow-graph.ts';

/** Names of members and indexes of lists. */
export type SchemaPath = ReadonlyArray<string | number>;

export interface StepText {
  readonly path: SchemaPath;
  /** The place in the step: `ask / text`. */
  readonly name: string;
  readonly value: string;
}

/** An edge that leaves a step. */
export interface StepEdge {
  /** The path of the member whose name is the label, or of the edge in the list of edges. */
  readonly path: SchemaPath;
  readonly label: string;
  readonly to: string;
}

/** Members that place a step and say nothing. */
const unspoken = new Set(['id', 'next', 'edges', 'position']);

export function textsOfStep(schema: unknown, id: string): ReadonlyArray<StepText> {
  const found = stepIn(schema, id);
  if (found === null) return [];
  const members = Object.entries(found.step).filter(([name]) => !unspoken.has(name));
  return members.flatMap(([name, value]) => textsIn(value, [...found.path, name], name));
}

/** Lists the edges of a step. Edges without a label are left out. */
export function edgesOfStep(schema: unknown, id: string): ReadonlyArray<StepEdge> {
  const found = stepIn(schema, id);
  const next = found === null || !isRecord(found.step.next) ? [] : Object.entries(found.step.next);
  const own = next.flatMap(([label, to]) =>
    typeof to === 'string' && found !== null ? [{ path: [...found.path, 'next', label], label, to }] : [],
  );
  const listed = isRecord(schema) && Array.isArray(schema.edges) ? schema.edges : [];
  const others = listed.flatMap((edge, index) => {
    const read = readListedEdge(edge);
    return read?.from === id ? [{ path: ['edges', index], label: read.label, to: read.to }] : [];
  });
  return [...own, ...others];
}

export function withText(schema: unknown, path: SchemaPath, text: string): unknown {
  return changedAt(schema, path, () => text);
}

/** Changes a label. A label that another edge of the step has stays as it was. */
export function withLabel(schema: unknown, { path, label }: StepEdge, text: string): unknown {
  const [last] = path.slice(-1);
  if (typeof last === 'string')
    return changedAt(schema, path.slice(0, -1), (next) => (isRecord(next) ? renamed(next, label, text) : next));
  return changedAt(schema, path, (edge) => {
    if (Array.isArray(edge)) return [edge[0], edge[1], text];
    return isRecord(edge) ? { ...edge, label: text } : edge;
  });
}

function stepIn(schema: unknown, id: string): { path: SchemaPath; step: Record<string, unknown> } | null {
  const nodes = isRecord(schema) ? schema.nodes : null;
  if (Array.isArray(nodes)) {
    const index = nodes.findIndex((node) => isRecord(node) && node.id === id);
    return index === -1 ? null : { path: ['nodes', index], step: nodes[index] };
  }
  const step = isRecord(nodes) ? nodes[id] : null;
  return isRecord(step) ? { path: ['nodes', id], step } : null;
}

function textsIn(value: unknown, path: SchemaPath, name: string): ReadonlyArray<StepText> {
  if (typeof value === 'string') return [{ path, name, value }];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, each]) =>
    textsIn(each, [...path, Array.isArray(value) ? Number(key) : key], `${name} / ${key}`),
  );
}

function readListedEdge(edge: unknown): { from: unknown; to: string; label: string } | null {
  const [from, to, label] = Array.isArray(edge)
    ? edge
    : isRecord(edge)
      ? [edge.from ?? edge.source, edge.to ?? edge.target, edge.label]
      : [];
  return typeof to === 'string' ? { from, to, label: typeof label === 'string' ? label : '' } : null;
}

/** Copies only what leads to the place. */
function changedAt(value: unknown, path: SchemaPath, change: (value: unknown) => unknown): unknown {
  const [first, ...rest] = path;
  if (first === undefined) return change(value);
  if (Array.isArray(value)) return value.map((each, index) => (index === first ? changedAt(each, rest, change) : each));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, name === first ? changedAt(each, rest, change) : each]),
  );
}

/** Keeps the order of the members. */
function renamed(members: Record<string, unknown>, from: string, to: string): Record<string, unknown> {
  if (from !== to && to in members) return members;
  return Object.fromEntries(Object.entries(members).map(([name, value]) => [name === from ? to : name, value]));
}
