import type { FlowEdge, FlowGraph } from '#dashboard/page/graph/flow-graph.ts';

/** A place in a column: a node, or a point that a long edge passes. */
export interface Slot {
  readonly key: string;
  /** The node; null for a point of an edge. */
  readonly node: string | null;
}

/** A piece of an edge from one column to the next. */
export interface Hop {
  readonly edge: FlowEdge;
  readonly from: string;
  readonly to: string;
}

/** A graph in columns: every forward edge goes from one column to a later one. */
export interface Layers {
  readonly columns: ReadonlyArray<ReadonlyArray<Slot>>;
  readonly hops: ReadonlyArray<Hop>;
  /** Edges that lead back or to the same step. */
  readonly back: ReadonlyArray<FlowEdge>;
  readonly rankOf: ReadonlyMap<string, number>;
}

const sweeps = 4;

/** Builds the columns from the start. Few edges cross in a column. */
export function layersOf(graph: FlowGraph): Layers {
  const back = backEdges(graph);
  const forward = graph.edges.filter((edge) => !back.has(edge));
  const rankOf = ranks(graph, forward);
  const columns: Slot[][] = Array.from({ length: Math.max(0, ...rankOf.values()) + 1 }, () => []);
  for (const id of depthFirst(graph)) columns[rankOf.get(id) ?? 0]?.push({ key: id, node: id });
  const hops = forward.flatMap((edge, index) => hopsOf(edge, index, rankOf, columns));
  return { columns: ordered(columns, hops), hops, back: [...back], rankOf };
}

function outgoing(edges: ReadonlyArray<FlowEdge>): Map<string, FlowEdge[]> {
  const found = new Map<string, FlowEdge[]>();
  for (const edge of edges) found.set(edge.from, [...(found.get(edge.from) ?? []), edge]);
  return found;
}

function rootsFirst({ nodes, start }: FlowGraph): ReadonlyArray<string> {
  const ids = nodes.map(({ id }) => id);
  return start === null ? ids : [start, ...ids.filter((id) => id !== start)];
}

function backEdges(graph: FlowGraph): Set<FlowEdge> {
  const next = outgoing(graph.edges);
  const back = new Set<FlowEdge>();
  const state = new Map<string, 'open' | 'done'>();
  for (const root of rootsFirst(graph)) {
    if (state.has(root)) continue;
    state.set(root, 'open');
    const path = [{ id: root, edges: [...(next.get(root) ?? [])] }];
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const edge = top.edges.shift();
      if (edge === undefined) {
        state.set(top.id, 'done');
        path.pop();
      } else if (state.get(edge.to) === 'open') back.add(edge);
      else if (!state.has(edge.to)) {
        state.set(edge.to, 'open');
        path.push({ id: edge.to, edges: [...(next.get(edge.to) ?? [])] });
      }
    }
  }
  return back;
}

function ranks({ nodes }: FlowGraph, forward: ReadonlyArray<FlowEdge>): Map<string, number> {
  const rankOf = new Map(nodes.map(({ id }) => [id, 0]));
  const waiting = new Map(nodes.map(({ id }) => [id, 0]));
  for (const { to } of forward) waiting.set(to, (waiting.get(to) ?? 0) + 1);
  const next = outgoing(forward);
  const ready = nodes.map(({ id }) => id).filter((id) => waiting.get(id) === 0);
  for (let id = ready.shift(); id !== undefined; id = ready.shift()) {
    for (const { to } of next.get(id) ?? []) {
      rankOf.set(to, Math.max(rankOf.get(to) ?? 0, (rankOf.get(id) ?? 0) + 1));
      const left = (waiting.get(to) ?? 0) - 1;
      waiting.set(to, left);
      if (left === 0) ready.push(to);
    }
  }
  return rankOf;
}

function depthFirst(graph: FlowGraph): ReadonlyArray<string> {
  const next = outgoing(graph.edges);
  const seen = new Set<string>();
  for (const root of rootsFirst(graph)) {
    const path = [root];
    for (let id = path.pop(); id !== undefined; id = path.pop()) {
      if (seen.has(id)) continue;
      seen.add(id);
      path.push(...(next.get(id) ?? []).map(({ to }) => to).reverse());
    }
  }
  return [...seen];
}

function hopsOf(
  edge: FlowEdge,
  index: number,
  rankOf: ReadonlyMap<string, number>,
  columns: Slot[][],
): ReadonlyArray<Hop> {
  const first = rankOf.get(edge.from) ?? 0;
  const last = rankOf.get(edge.to) ?? 0;
  const hops: Hop[] = [];
  let from = edge.from;
  for (let rank = first + 1; rank < last; rank += 1) {
    const key = `edge ${index} in ${rank}`;
    columns[rank]?.push({ key, node: null });
    hops.push({ edge, from, to: key });
    from = key;
  }
  return [...hops, { edge, from, to: edge.to }];
}

/** Orders the slots by the places of a column's neighbours, alternately forwards and backwards. */
function ordered(
  columns: ReadonlyArray<ReadonlyArray<Slot>>,
  hops: ReadonlyArray<Hop>,
): ReadonlyArray<ReadonlyArray<Slot>> {
  let sorted = columns;
  for (let sweep = 0; sweep < sweeps; sweep += 1) {
    const isForward = sweep % 2 === 0;
    const result = [...sorted];
    const order = isForward ? [...result.keys()].slice(1) : [...result.keys()].slice(0, -1).reverse();
    for (const rank of order) {
      const fixed = placesIn(result[isForward ? rank - 1 : rank + 1] ?? []);
      result[rank] = sortedByNeighbours(result[rank] ?? [], fixed, hops, isForward);
    }
    sorted = result;
  }
  return sorted;
}

function placesIn(column: ReadonlyArray<Slot>): ReadonlyMap<string, number> {
  return new Map(column.map(({ key }, index) => [key, index]));
}

function sortedByNeighbours(
  column: ReadonlyArray<Slot>,
  fixed: ReadonlyMap<string, number>,
  hops: ReadonlyArray<Hop>,
  isForward: boolean,
): ReadonlyArray<Slot> {
  const weight = ({ key }: Slot, index: number) => {
    const places = hops
      .filter((hop) => (isForward ? hop.to : hop.from) === key)
      .flatMap((hop) => fixed.get(isForward ? hop.from : hop.to) ?? []);
    return places.length === 0 ? index : places.reduce((sum, place) => sum + place, 0) / places.length;
  };
  return column
    .map((slot, index) => ({ slot, index, weight: weight(slot, index) }))
    .sort((one, other) => one.weight - other.weight || one.index - other.index)
    .map(({ slot }) => slot);
}
