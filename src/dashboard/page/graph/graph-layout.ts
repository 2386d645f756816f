import type { FlowEdge, FlowGraph } from '#dashboard/page/graph/flow-graph.ts';
import { type Hop, type Layers, layersOf, type Slot } from '#dashboard/page/graph/layers.ts';
import { bentPath, type Point } from '#dashboard/page/graph/track-path.ts';

export interface PlacedNode {
  readonly id: string;
  readonly x: number;
  readonly y: number;
}

/** An edge of straight lines with corners of 45 degrees. */
export interface PlacedEdge {
  readonly edge: FlowEdge;
  readonly path: string;
  /** The tip of the arrow, which points to the right. */
  readonly end: Point;
  /** The place of its label. */
  readonly label: Point;
}

export interface GraphLayout {
  readonly width: number;
  readonly height: number;
  readonly nodes: ReadonlyArray<PlacedNode>;
  readonly edges: ReadonlyArray<PlacedEdge>;
  /** The edge into the first step; null if the schema does not name that step. */
  readonly entry: PlacedEdge | null;
}

export const nodeWidth = 144;
export const nodeHeight = 44;

const slotPitch = 72;
const passPitch = 40;
const portPitch = 14;
const trackPitch = 10;
const channelPitch = 14;
const margin = 12;
const least = { label: 10, gutter: 40 };
const labelCharacter = 6.2;
const labelGap = 6;

interface Placed {
  readonly layers: Layers;
  /** The height of the middle of each slot. */
  readonly yOf: ReadonlyMap<string, number>;
  readonly top: number;
  readonly bottom: number;
}

/** A vertical part of an edge in the space to the right of a column. Column -1 is left of the first. */
interface Run {
  readonly gutter: number;
  readonly y1: number;
  readonly y2: number;
  track: number;
}

/** Corners of an edge: each vertical part on its track, with the heights between them. */
interface Route {
  readonly edge: FlowEdge;
  readonly fromY: number;
  readonly runs: ReadonlyArray<Run>;
}

/** Places the graph in columns. The same graph gives the same layout. */
export function layoutGraph(graph: FlowGraph): GraphLayout {
  const placed = placeSlots(layersOf(graph));
  const routes = [...forwardRoutes(placed), ...backRoutes(placed)];
  assignTracks(routes.flatMap(({ runs }) => runs));
  const gutters = gutterWidths(placed.layers, routes);
  const xOf = columnPositions(gutters);
  const shift = margin - Math.min(placed.top, ...routes.flatMap(({ runs }) => runs.flatMap(({ y1, y2 }) => [y1, y2])));
  const xOfRun = ({ gutter, track }: Run) =>
    (xOf[gutter] ?? -nodeWidth) + nodeWidth + labelZone(routes, gutter) + track * trackPitch;
  const edges = routes.map((route) => drawnEdge(route, { placed, xOf, xOfRun, shift }));
  const nodes = graph.nodes.map(({ id }) => ({
    id,
    x: xOf[placed.layers.rankOf.get(id) ?? 0] ?? 0,
    y: (placed.yOf.get(id) ?? 0) + shift - nodeHeight / 2,
  }));
  const lowest = Math.max(placed.bottom, ...routes.flatMap(({ runs }) => runs.flatMap(({ y1, y2 }) => [y1, y2])));
  const lastColumn = placed.layers.columns.length - 1;
  const hasRightTrack = routes.some(({ runs }) => runs.some(({ gutter }) => gutter === lastColumn));
  const right = (xOf[lastColumn] ?? 0) + nodeWidth + (hasRightTrack ? (gutters.get(lastColumn) ?? 0) : 0);
  return { width: right + margin, height: lowest + shift + margin, nodes, edges, entry: entryOf(graph, nodes) };
}

function entryOf({ start }: FlowGraph, nodes: ReadonlyArray<PlacedNode>): PlacedEdge | null {
  const node = nodes.find(({ id }) => id === start);
  if (node === undefined) return null;
  const end = { x: node.x, y: node.y + nodeHeight / 2 };
  return { edge: { from: '', to: node.id, label: '' }, path: `M${end.x - 18} ${end.y}H${end.x}`, end, label: end };
}

/** Places slots near the neighbours in the column before, with the minimum distance to other slots. */
function placeSlots(layers: Layers): Placed {
  const yOf = new Map<string, number>();
  for (const column of layers.columns) {
    const wanted = column.map((slot) => wantedY(slot, layers.hops, yOf));
    const placed: number[] = [];
    for (const [index, slot] of column.entries()) {
      const before = column[index - 1];
      const lowest =
        before === undefined ? Number.NEGATIVE_INFINITY : (placed[index - 1] ?? 0) + distance(before, slot);
      placed.push(Math.max(wanted[index] ?? lowest, lowest, index === 0 && wanted[index] === null ? 0 : lowest));
    }
    const known = wanted.flatMap((y, index) => (y === null ? [] : [(placed[index] ?? 0) - y]));
    const offset = known.length === 0 ? 0 : snapped(known.reduce((sum, y) => sum + y, 0) / known.length);
    for (const [index, { key }] of column.entries()) yOf.set(key, (placed[index] ?? 0) - offset);
  }
  const nodes = layers.columns.flat().flatMap(({ key, node }) => (node === null ? [] : [yOf.get(key) ?? 0]));
  return { layers, yOf, top: Math.min(...nodes) - nodeHeight / 2, bottom: Math.max(...nodes) + nodeHeight / 2 };
}

function wantedY({ key }: Slot, hops: ReadonlyArray<Hop>, yOf: ReadonlyMap<string, number>): number | null {
  const before = hops.filter(({ to }) => to === key).flatMap(({ from }) => yOf.get(from) ?? []);
  return before.length === 0 ? null : snapped(before.reduce((sum, y) => sum + y, 0) / before.length);
}

/** Rounds heights to multiples of half a slot, so that nearly horizontal edges become horizontal. */
function snapped(y: number): number {
  return Math.round(y / (slotPitch / 2)) * (slotPitch / 2);
}

function distance(one: Slot, other: Slot): number {
  return one.node === null || other.node === null ? passPitch : slotPitch;
}

function forwardRoutes({ layers, yOf }: Placed): ReadonlyArray<Route> {
  const ports = portsOf(layers, yOf);
  const byEdge = new Map<FlowEdge, Hop[]>();
  for (const hop of layers.hops) byEdge.set(hop.edge, [...(byEdge.get(hop.edge) ?? []), hop]);
  return [...byEdge].map(([edge, hops]) => {
    const fromY = (yOf.get(edge.from) ?? 0) + (ports.get(edge) ?? 0);
    const first = layers.rankOf.get(edge.from) ?? 0;
    let y1 = fromY;
    const runs = hops.map(({ to }, index) => {
      const y2 = yOf.get(to) ?? 0;
      const run: Run = { gutter: first + index, y1, y2, track: 0 };
      y1 = y2;
      return run;
    });
    return { edge, fromY, runs };
  });
}

/** Edges that lead back leave to the right, pass above or below everything, and arrive from the left. */
function backRoutes({ layers, yOf, top, bottom }: Placed): ReadonlyArray<Route> {
  const ports = portsOf(layers, yOf);
  const middle = (top + bottom) / 2;
  let above = 0;
  let below = 0;
  return layers.back.map((edge) => {
    const fromY = (yOf.get(edge.from) ?? 0) + (ports.get(edge) ?? 0);
    const toY = yOf.get(edge.to) ?? 0;
    const isAbove = (fromY + toY) / 2 <= middle;
    if (isAbove) above += 1;
    else below += 1;
    const channel = isAbove ? top - above * channelPitch : bottom + below * channelPitch;
    const fromRank = layers.rankOf.get(edge.from) ?? 0;
    const toRank = layers.rankOf.get(edge.to) ?? 0;
    const runs = [
      { gutter: fromRank, y1: fromY, y2: channel, track: 0 },
      { gutter: toRank - 1, y1: channel, y2: toY, track: 0 },
    ];
    return { edge, fromY, runs };
  });
}

/** Places the ends of edges next to each other, in the order of the edges' other ends. */
function portsOf({ hops, back }: Layers, yOf: ReadonlyMap<string, number>): ReadonlyMap<FlowEdge, number> {
  const leaving = new Map<string, Array<{ readonly edge: FlowEdge; readonly toY: number }>>();
  const add = (edge: FlowEdge, toY: number) =>
    leaving.set(edge.from, [...(leaving.get(edge.from) ?? []), { edge, toY }]);
  for (const { edge, from, to } of hops) if (from === edge.from) add(edge, yOf.get(to) ?? 0);
  for (const edge of back) add(edge, Number.NEGATIVE_INFINITY);
  const ports = new Map<FlowEdge, number>();
  for (const edges of leaving.values()) {
    const pitch = Math.min(portPitch, (nodeHeight - 10) / Math.max(1, edges.length - 1));
    const sorted = [...edges].sort((one, other) => one.toY - other.toY);
    for (const [index, { edge }] of sorted.entries()) ports.set(edge, (index - (edges.length - 1) / 2) * pitch);
  }
  return ports;
}

/** Gives overlapping vertical parts separate tracks, in an order in which few of them cross. */
function assignTracks(runs: ReadonlyArray<Run>): void {
  const byGutter = Map.groupBy(
    runs.filter(({ y1, y2 }) => y1 !== y2),
    ({ gutter }) => gutter,
  );
  for (const inGutter of byGutter.values()) {
    const down = inGutter.filter(({ y1, y2 }) => y2 > y1).sort((one, other) => other.y1 - one.y1);
    const up = inGutter.filter(({ y1, y2 }) => y2 < y1).sort((one, other) => one.y1 - other.y1);
    const tracks: Run[][] = [];
    for (const run of [...down, ...up]) {
      const free = tracks.findIndex((track) => track.every((other) => areApart(run, other)));
      run.track = free === -1 ? tracks.length : free;
      tracks[run.track] = [...(tracks[run.track] ?? []), run];
    }
  }
}

function areApart(one: Run, other: Run): boolean {
  const gap = 4;
  return (
    Math.max(one.y1, one.y2) + gap < Math.min(other.y1, other.y2) ||
    Math.max(other.y1, other.y2) + gap < Math.min(one.y1, one.y2)
  );
}

/** The space that labels take at the left of a gutter. */
function labelZone(routes: ReadonlyArray<Route>, gutter: number): number {
  const labels = routes.filter(({ runs }) => runs[0]?.gutter === gutter).map(({ edge }) => edge.label.length);
  const longest = Math.max(0, ...labels);
  return longest === 0 ? least.label : labelGap * 2 + longest * labelCharacter;
}

function gutterWidths(layers: Layers, routes: ReadonlyArray<Route>): ReadonlyMap<number, number> {
  const runs = routes.flatMap((route) => route.runs);
  const widths = new Map<number, number>();
  for (let gutter = -1; gutter < layers.columns.length; gutter += 1) {
    const tracks =
      Math.max(-1, ...runs.filter((run) => run.gutter === gutter && run.y1 !== run.y2).map(({ track }) => track)) + 1;
    widths.set(gutter, Math.max(least.gutter, labelZone(routes, gutter) + tracks * trackPitch + 16));
  }
  return widths;
}

function columnPositions(gutters: ReadonlyMap<number, number>): ReadonlyArray<number> {
  const positions: number[] = [];
  let x = margin + (gutters.get(-1) ?? 0);
  for (let column = 0; column < gutters.size - 1; column += 1) {
    positions.push(x);
    x += nodeWidth + (gutters.get(column) ?? 0);
  }
  return positions;
}

interface Drawing {
  readonly placed: Placed;
  readonly xOf: ReadonlyArray<number>;
  readonly xOfRun: (run: Run) => number;
  readonly shift: number;
}

function drawnEdge({ edge, fromY, runs }: Route, { placed, xOf, xOfRun, shift }: Drawing): PlacedEdge {
  const { rankOf } = placed.layers;
  const start = { x: (xOf[rankOf.get(edge.from) ?? 0] ?? 0) + nodeWidth, y: fromY + shift };
  const end = { x: xOf[rankOf.get(edge.to) ?? 0] ?? 0, y: (placed.yOf.get(edge.to) ?? 0) + shift };
  const corners = runs
    .filter(({ y1, y2 }) => y1 !== y2)
    .flatMap((run) => [
      { x: xOfRun(run), y: run.y1 + shift },
      { x: xOfRun(run), y: run.y2 + shift },
    ]);
  return { edge, path: bentPath([start, ...corners, end]), end, label: { x: start.x + labelGap, y: start.y - 4 } };
}
