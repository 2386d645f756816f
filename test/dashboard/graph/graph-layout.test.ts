import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { FlowGraph } from '#dashboard/page/graph/flow-graph.ts';
import { layoutGraph, nodeHeight, nodeWidth } from '#dashboard/page/graph/graph-layout.ts';

const graphs = fc
  .tuple(
    fc.integer({ min: 1, max: 12 }),
    fc.array(fc.tuple(fc.nat(11), fc.nat(11), fc.constantFrom('', 'yes', 'no')), { maxLength: 24 }),
  )
  .map(
    ([size, pairs]): FlowGraph => ({
      nodes: Array.from({ length: size }, (_, index) => ({ id: `n${index}`, what: '', members: {} })),
      edges: pairs.map(([from, to, label]) => ({ from: `n${from % size}`, to: `n${to % size}`, label })),
      start: 'n0',
    }),
  );

/** Returns the corners of a path of M and L commands. */
const pointsOf = (path: string) =>
  path
    .split(/[ML]/)
    .filter(Boolean)
    .map((pair) => pair.split(' ').map(Number));

describe('layoutGraph', () => {
  it('places nodes without overlap and inside the picture', () => {
    fc.assert(
      fc.property(graphs, (graph) => {
        const { nodes, width, height } = layoutGraph(graph);
        for (const [index, one] of nodes.entries()) {
          assert.ok(one.x >= 0 && one.y >= 0 && one.x + nodeWidth <= width && one.y + nodeHeight <= height);
          for (const other of nodes.slice(index + 1)) {
            assert.ok(Math.abs(one.x - other.x) >= nodeWidth || Math.abs(one.y - other.y) >= nodeHeight);
          }
        }
      }),
    );
  });

  it('draws every edge from node to node with horizontal, vertical and 45-degree segments inside the picture', () => {
    fc.assert(
      fc.property(graphs, (graph) => {
        const { edges, nodes, width, height } = layoutGraph(graph);
        assert.equal(edges.length, graph.edges.length);
        for (const { path, edge } of edges) {
          const points = pointsOf(path);
          for (const [index, [x = 0, y = 0]] of points.entries()) {
            assert.ok(x >= 0 && y >= 0 && x <= width && y <= height, `${x} ${y} is outside`);
            const [nextX = x, nextY = y] = points[index + 1] ?? [];
            const [wide, high] = [Math.abs(nextX - x), Math.abs(nextY - y)];
            assert.ok(wide < 0.2 || high < 0.2 || Math.abs(wide - high) < 0.3, `${path} has another angle`);
          }
          const to = nodes.find(({ id }) => id === edge.to);
          assert.deepEqual(
            points.at(-1)?.map(Math.round),
            [to?.x, (to?.y ?? 0) + nodeHeight / 2].map((value) => Math.round(value ?? 0)),
          );
        }
      }),
    );
  });

  it('places each node to the right of its predecessors, except along back edges', () => {
    const edge = (from: string, to: string) => ({ from, to, label: '' });
    const nodes = ['a', 'b', 'c'].map((id) => ({ id, what: '', members: {} }));
    const { nodes: placed } = layoutGraph({
      nodes,
      edges: [edge('a', 'b'), edge('b', 'c'), edge('a', 'c'), edge('c', 'a')],
      start: 'a',
    });
    const [a, b, c] = placed.map(({ x }) => x);
    assert.ok(a !== undefined && b !== undefined && c !== undefined && a < b && b < c);
  });
});
