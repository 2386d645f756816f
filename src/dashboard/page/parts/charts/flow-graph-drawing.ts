import type { VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import type { ChangeMark, ComparedGraph } from '#dashboard/page/graph/compare-graphs.ts';
import { waysIn } from '#dashboard/page/graph/compare-graphs.ts';
import {
  type GraphLayout,
  layoutGraph,
  nodeHeight,
  nodeWidth,
  type PlacedEdge,
  type PlacedNode,
} from '#dashboard/page/graph/graph-layout.ts';
import { classes, html } from '#dashboard/page/html.ts';

const signs: Readonly<Record<ChangeMark, string>> = { same: '', added: '+', removed: '−', changed: '~' };

interface DrawingProps {
  readonly compared: ComparedGraph;
  readonly chosen: string | null;
  readonly onChoose: (id: string) => void;
}

/** The smallest scale of a wide graph. A wider graph scrolls. */
const leastScale = 0.72;

export function FlowGraphDrawing({ compared, chosen, onChoose }: DrawingProps): VNode {
  const layout = useMemo(() => layoutGraph(compared.graph), [compared]);
  const { width, height, edges, nodes, entry } = layout;
  return html`<div class="graph" tabindex="0" role="region" aria-label="Graph, scrolls sideways">
    <svg width=${width} style=${{ minWidth: `${width * leastScale}px` }} viewBox=${`0 0 ${width} ${height}`} role="img" aria-label=${describe(compared, layout)}>
      ${entry === null ? null : html`<${Edge} placed=${entry} mark="same" />`}
      ${edges.map((placed, index) => html`<${Edge} key=${index} placed=${placed} mark=${compared.markOfEdge.get(placed.edge) ?? 'same'} />`)}
      ${nodes.map(
        (node) =>
          html`<${Station} key=${node.id} node=${node} compared=${compared} isChosen=${node.id === chosen} onChoose=${onChoose} />`,
      )}
    </svg>
  </div>`;
}

function Edge({ placed, mark }: { placed: PlacedEdge; mark: ChangeMark }): VNode {
  const { path, end, edge, label } = placed;
  const status = mark === 'same' || mark === 'changed' ? '' : mark;
  return html`<g>
    <path class=${classes('edge', status)} d=${path} />
    <path class=${classes('head-mark', status)} d=${`M${end.x} ${end.y}l-7-4v8z`} />
    ${edge.label === '' ? null : html`<text class="edge-label" x=${label.x} y=${label.y}>${edge.label}</text>`}
  </g>`;
}

function Station(props: {
  node: PlacedNode;
  compared: ComparedGraph;
  isChosen: boolean;
  onChoose: (id: string) => void;
}): VNode {
  const { node, compared, isChosen, onChoose } = props;
  const mark = compared.markOfNode.get(node.id) ?? 'same';
  const step = compared.graph.nodes.find(({ id }) => id === node.id);
  const isStart = compared.graph.start === node.id;
  const { x, y } = node;
  return html`<g class=${classes('node', mark === 'same' ? '' : mark, isStart && 'start', isChosen && 'is-chosen')} onClick=${() => onChoose(node.id)}>
    <title>${`${node.id}: ${step?.what ?? ''}`}</title>
    <rect x=${x} y=${y} width=${nodeWidth} height=${nodeHeight} rx="3" />
    <text class="id" x=${x + 10} y=${y + 18}>${cut(node.id, 16)}</text>
    <text class="what" x=${x + 10} y=${y + 34}>${step?.what ?? ''}</text>
    ${signs[mark] === '' ? null : html`<text class="sign" x=${x + nodeWidth - 10} y=${y + 18} text-anchor="end">${signs[mark]}</text>`}
  </g>`;
}

function cut(text: string, characters: number): string {
  return text.length <= characters ? text : `${text.slice(0, characters - 1)}…`;
}

const maxDescribed = 40;

function describe({ graph, summary }: ComparedGraph, { nodes }: GraphLayout): string {
  const steps = graph.nodes
    .slice(0, maxDescribed)
    .map(({ id }) => `${id} leads ${waysIn(graph.edges.filter(({ from }) => from === id))}`);
  return `Graph of ${nodes.length} steps${summary === '' ? '' : ` (${summary})`}: ${steps.join('; ')}.`;
}
