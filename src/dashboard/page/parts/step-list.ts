import type { VNode } from 'preact';
import { type ComparedGraph, waysIn } from '#dashboard/page/graph/compare-graphs.ts';
import { valueText } from '#dashboard/page/graph/json-changes.ts';
import { classes, html } from '#dashboard/page/html.ts';

const words = { same: '', added: 'added', removed: 'removed', changed: 'changed' } as const;
const tones = { same: '', added: 'add', removed: 'del', changed: 'mod' } as const;

/** Shows the contents of the picture in words. */
export function StepList({ compared, chosen }: { compared: ComparedGraph; chosen: string | null }): VNode {
  const { graph, markOfNode } = compared;
  return html`<ol class="step-list">
    ${graph.nodes.map(({ id, members }) => {
      const mark = markOfNode.get(id) ?? 'same';
      return html`<li key=${id} class=${classes(id === chosen && 'is-chosen')}>
        <span><code class="strong">${id}</code>${mark === 'same' ? null : html` <span class=${`op ${tones[mark]}`}>${words[mark]}</span>`}</span>
        <dl class="kv">
          ${Object.entries(members).map(([name, value]) => html`<dt key=${name}>${name}</dt><dd>${valueText(value)}</dd>`)}
          <dt>leads</dt><dd>${waysIn(graph.edges.filter((edge) => edge.from === id && compared.markOfEdge.get(edge) !== 'removed'))}</dd>
        </dl>
      </li>`;
    })}
  </ol>`;
}
