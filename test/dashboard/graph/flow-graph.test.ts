import assert from 'node:assert/strict';
import { compareGraphs } from '#dashboard/page/graph/compare-graphs.ts';
import { type FlowGraph, readFlowGraph } from '#dashboard/page/graph/flow-graph.ts';
import { jsonChanges } from '#dashboard/page/graph/json-changes.ts';

const nodes = {
  number: { ask: 'Which number?', next: 'look' },
  look: { call: 'parcel.find', next: { found: 'say', unknown: 'number' } },
  say: { say: 'Here it is.' },
};

const graphOf = (schema: unknown): FlowGraph => {
  const graph = readFlowGraph(schema);
  assert.ok(graph !== null);
  return graph;
};

const textOf = (parts: ReadonlyArray<{ readonly text: string }>) => parts.map(({ text }) => text).join('');

describe('readFlowGraph', () => {
  it('reads nodes keyed by id, with the edges of each', () => {
    const { edges, start } = graphOf({ start: 'number', nodes });
    assert.equal(start, 'number');
    assert.deepEqual(
      edges.map(({ from, to, label }) => [from, to, label]),
      [
        ['number', 'look', ''],
        ['look', 'say', 'found'],
        ['look', 'number', 'unknown'],
      ],
    );
  });

  it('reads a list of nodes and each form of edges', () => {
    const listed = [{ id: 'a' }, { id: 'b' }];
    const edges = [
      ['a', 'b'],
      { from: 'a', to: 'b', label: 'yes' },
      { source: 'b', target: 'a' },
      { from: 'a', to: 'gone' },
    ];
    assert.deepEqual(graphOf({ nodes: listed, edges }).edges, [
      { from: 'a', to: 'b', label: '' },
      { from: 'a', to: 'b', label: 'yes' },
      { from: 'b', to: 'a', label: '' },
    ]);
  });

  it('finds no graph in any other schema', () => {
    for (const schema of [null, 'text', {}, { nodes: [] }, { nodes: {} }, { nodes: [{ name: 'a' }] }, [nodes]]) {
      assert.equal(readFlowGraph(schema), null);
    }
  });
});

describe('compareGraphs', () => {
  it('marks added, changed and removed nodes and edges', () => {
    const later = {
      number: nodes.number,
      look: { call: 'parcel.find', next: { found: 'bye' } },
      bye: { say: 'Goodbye.' },
    };
    const { markOfNode, summary, changes } = compareGraphs(
      graphOf({ start: 'number', nodes }),
      graphOf({ start: 'number', nodes: later }),
    );
    assert.deepEqual(
      [...markOfNode],
      [
        ['number', 'same'],
        ['look', 'changed'],
        ['bye', 'added'],
        ['say', 'removed'],
      ],
    );
    assert.equal(summary, '1 step added, 1 changed, 1 removed');
    assert.deepEqual(
      changes.map(({ op, parts }) => `${op} ${textOf(parts)}`),
      [
        'mod Step look, leads to bye on found instead of to say on found, to number on unknown',
        'add Step bye, say “Goodbye.”',
        'del Step say',
      ],
    );
  });

  it('marks nothing in equal graphs', () => {
    const { changes, summary } = compareGraphs(graphOf({ nodes }), graphOf({ nodes }));
    assert.deepEqual([changes, summary], [[], '']);
  });
});

describe('jsonChanges', () => {
  it('names the members and items that differ', () => {
    const before = { say: 'Good day', listenFor: ['pain', 'hours'], old: 1 };
    const after = { say: 'Good day', listenFor: ['pain', 'visit', 'hours'], fresh: true };
    assert.deepEqual(
      jsonChanges(before, after).map(({ op, parts }) => `${op} ${textOf(parts)}`),
      ['add “visit” to listenFor', 'del old, which was 1', 'add fresh: true'],
    );
  });
});
