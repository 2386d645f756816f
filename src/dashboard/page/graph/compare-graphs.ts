import type { FlowEdge, FlowGraph, FlowNode } from '#dashboard/page/graph/flow-graph.ts';
import { isSame, valueChanged, valueText } from '#dashboard/page/graph/json-changes.ts';
import { countOf } from '#dashboard/page/text/numbers.ts';
import { type Change, code, inserted, plain, removed, type SentencePart } from '#dashboard/page/text/parts-of-text.ts';

export type ChangeMark = 'same' | 'added' | 'removed' | 'changed';

/** Two graphs in one picture. */
export interface ComparedGraph {
  readonly graph: FlowGraph;
  readonly markOfNode: ReadonlyMap<string, ChangeMark>;
  readonly markOfEdge: ReadonlyMap<FlowEdge, ChangeMark>;
  readonly changes: ReadonlyArray<Change>;
  /** `6 steps added, 2 changed, 1 removed`. */
  readonly summary: string;
}

/** Compares graphs by the ids of steps. @param before null for no comparison */
export function compareGraphs(before: FlowGraph | null, after: FlowGraph): ComparedGraph {
  if (before === null) return withMarks(after, new Map(after.nodes.map(({ id }) => [id, 'same'])), new Map(), []);
  const marks = new Map<string, ChangeMark>();
  const old = new Map(before.nodes.map((node) => [node.id, node]));
  const fresh = new Map(after.nodes.map((node) => [node.id, node]));
  for (const node of after.nodes) {
    const was = old.get(node.id);
    marks.set(node.id, was === undefined ? 'added' : isSameStep(before, was, after, node) ? 'same' : 'changed');
  }
  const gone = before.nodes.filter(({ id }) => !fresh.has(id));
  for (const { id } of gone) marks.set(id, 'removed');
  const goneEdges = before.edges.filter((edge) => !after.edges.some((other) => isSame(edge, other)));
  const markOfEdge = new Map<FlowEdge, ChangeMark>(goneEdges.map((edge) => [edge, 'removed']));
  for (const edge of after.edges) if (!before.edges.some((other) => isSame(edge, other))) markOfEdge.set(edge, 'added');
  const graph = { nodes: [...after.nodes, ...gone], edges: [...after.edges, ...goneEdges], start: after.start };
  return withMarks(graph, marks, markOfEdge, changesOf(before, after, marks));
}

function withMarks(
  graph: FlowGraph,
  markOfNode: ReadonlyMap<string, ChangeMark>,
  markOfEdge: ReadonlyMap<FlowEdge, ChangeMark>,
  changes: ReadonlyArray<Change>,
): ComparedGraph {
  return { graph, markOfNode, markOfEdge, changes, summary: summaryOf(markOfNode) };
}

function isSameStep(before: FlowGraph, was: FlowNode, after: FlowGraph, node: FlowNode): boolean {
  return isSame(was.members, node.members) && isSame(edgesOf(before, was.id), edgesOf(after, node.id));
}

function edgesOf({ edges }: FlowGraph, id: string): ReadonlyArray<FlowEdge> {
  return edges.filter(({ from }) => from === id);
}

function summaryOf(marks: ReadonlyMap<string, ChangeMark>): string {
  const count = (mark: ChangeMark) => [...marks.values()].filter((each) => each === mark).length;
  const parts = (['added', 'changed', 'removed'] as const)
    .map((mark) => [count(mark), mark] as const)
    .filter(([found]) => found > 0);
  return parts
    .map(([found, mark], index) => (index === 0 ? `${countOf(found, 'step')} ${mark}` : `${found} ${mark}`))
    .join(', ');
}

function changesOf(before: FlowGraph, after: FlowGraph, marks: ReadonlyMap<string, ChangeMark>): ReadonlyArray<Change> {
  const changed = after.nodes
    .filter(({ id }) => marks.get(id) === 'changed')
    .map((node) => stepChanged(before, after, node));
  const added = after.nodes.filter(({ id }) => marks.get(id) === 'added').map((node) => stepAdded(after, node));
  const gone = before.nodes
    .filter(({ id }) => marks.get(id) === 'removed')
    .map(({ id }): Change => ({ op: 'del', parts: [plain('Step '), code(id)] }));
  const start: Change[] =
    before.start === after.start
      ? []
      : [
          {
            op: 'mod',
            parts: [
              plain('The flow begins at '),
              inserted(after.start ?? 'no step'),
              plain(' instead of '),
              removed(before.start ?? 'no step'),
            ],
          },
        ];
  return [...start, ...changed, ...added, ...gone];
}

function stepAdded(after: FlowGraph, { id, members }: FlowNode): Change {
  const said = Object.entries(members).flatMap(([name, value]) => [
    plain(', '),
    code(name),
    plain(` ${valueText(value)}`),
  ]);
  const ways = edgesOf(after, id);
  return {
    op: 'add',
    parts: [plain('Step '), code(id), ...said, ...(ways.length === 0 ? [] : [plain(`, leads ${waysIn(ways)}`)])],
  };
}

function stepChanged(before: FlowGraph, after: FlowGraph, node: FlowNode): Change {
  const was = before.nodes.find(({ id }) => id === node.id)?.members ?? {};
  const names = [...new Set([...Object.keys(was), ...Object.keys(node.members)])];
  const parts: SentencePart[] = [];
  const add = (...more: ReadonlyArray<SentencePart>) => parts.push(plain(parts.length === 0 ? ', ' : '; '), ...more);
  for (const name of names) {
    if (isSame(was[name], node.members[name])) continue;
    if (was[name] === undefined) add(code(name), plain(' '), inserted(valueText(node.members[name])));
    else if (node.members[name] === undefined) add(code(name), plain(' no more '), removed(valueText(was[name])));
    else add(code(name), plain(' '), ...valueChanged(was[name], node.members[name]));
  }
  const old = edgesOf(before, node.id);
  const fresh = edgesOf(after, node.id);
  if (!isSame(old, fresh)) add(plain('leads '), inserted(waysIn(fresh)), plain(' instead of '), removed(waysIn(old)));
  return { op: 'mod', parts: [plain('Step '), code(node.id), ...parts] };
}

/** `to number on yes, to where on no`. */
export function waysIn(edges: ReadonlyArray<FlowEdge>): string {
  if (edges.length === 0) return 'nowhere, the call ends';
  return edges.map(({ to, label }) => (label === '' ? `to ${to}` : `to ${to} on ${label}`)).join(', ');
}
