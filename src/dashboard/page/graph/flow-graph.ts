export interface FlowNode {
  readonly id: string;
  /** A short text about the step: `ask, remember`. */
  readonly what: string;
  /** The members of the step without the edges. */
  readonly members: Readonly<Record<string, unknown>>;
}

/** An edge with the answer that leads to the other step. */
export interface FlowEdge {
  readonly from: string;
  readonly to: string;
  readonly label: string;
}

export interface FlowGraph {
  readonly nodes: ReadonlyArray<FlowNode>;
  readonly edges: ReadonlyArray<FlowEdge>;
  /** The first step; null if the schema does not name it. */
  readonly start: string | null;
}

/** Members that name a step or its edges, and do not describe what it does. */
const structural = new Set(['id', 'next', 'edges', 'position']);

/**
 * Reads a `flowSchema` that has `nodes`: an object keyed by id, or a list of objects with `id`. Its edges are each
 * node's `next`, or `edges`.
 * @returns null for any other schema
 */
export function readFlowGraph(schema: unknown): FlowGraph | null {
  if (!isRecord(schema)) return null;
  const entries = nodeEntries(schema.nodes);
  if (entries === null || entries.length === 0) return null;
  const ids = new Set(entries.map(([id]) => id));
  const edges = [...entries.flatMap(([id, node]) => nextEdges(id, node.next)), ...listedEdges(schema.edges)];
  const start = typeof schema.start === 'string' && ids.has(schema.start) ? schema.start : null;
  return {
    nodes: entries.map(([id, node]) => ({ id, what: describeStep(node), members: membersOf(node) })),
    edges: edges.filter(({ from, to }) => ids.has(from) && ids.has(to)),
    start,
  };
}

function nodeEntries(nodes: unknown): ReadonlyArray<readonly [string, Record<string, unknown>]> | null {
  if (Array.isArray(nodes)) {
    const records = nodes.filter(isRecord);
    if (records.length !== nodes.length || records.some(({ id }) => typeof id !== 'string')) return null;
    return records.map((node) => [String(node.id), node]);
  }
  if (!isRecord(nodes)) return null;
  return Object.entries(nodes).map(([id, node]) => [id, isRecord(node) ? node : { value: node }]);
}

function nextEdges(from: string, next: unknown): ReadonlyArray<FlowEdge> {
  if (typeof next === 'string') return [{ from, to: next, label: '' }];
  if (!isRecord(next)) return [];
  return Object.entries(next).flatMap(([label, to]) => (typeof to === 'string' ? [{ from, to, label }] : []));
}

function listedEdges(edges: unknown): ReadonlyArray<FlowEdge> {
  if (!Array.isArray(edges)) return [];
  return edges.flatMap((edge) => {
    const [from, to, label] = Array.isArray(edge)
      ? edge
      : isRecord(edge)
        ? [edge.from ?? edge.source, edge.to ?? edge.target, edge.label]
        : [];
    if (typeof from !== 'string' || typeof to !== 'string') return [];
    return [{ from, to, label: typeof label === 'string' ? label : '' }];
  });
}

function membersOf(node: Record<string, unknown>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(node).filter(([name]) => !structural.has(name)));
}

const maxWhat = 19;
const maxShortValue = 14;

/** Describes a step with short values and their names, and only the names of long ones. */
function describeStep(node: Record<string, unknown>): string {
  const words = Object.entries(membersOf(node)).map(([name, value]) => {
    return typeof value === 'string' && value.length <= maxShortValue && /^[\w.-]+$/.test(value)
      ? `${name} ${value}`
      : name;
  });
  const all = words.join(', ');
  return all.length <= maxWhat ? all : `${all.slice(0, maxWhat - 1).replace(/[\s,]+$/, '')}…`;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
