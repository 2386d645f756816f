import type { VNode } from 'preact';
import { html } from '#dashboard/page/html.ts';
import type { DiffRow } from '#dashboard/page/text/line-diff.ts';
import { countOf, formatCount } from '#dashboard/page/text/numbers.ts';

const signs = { same: ' ', add: '+', del: '−' } as const;
const classOf = { same: '', add: 'add', del: 'del' } as const;

/** A browser draws more too slowly. The table says how many it leaves out. */
const maxLines = 3_000;

/** Shows a text, or a difference line by line. */
export function CodeLines({ rows, label }: { rows: ReadonlyArray<DiffRow>; label: string }): VNode {
  const left = rows.length - maxLines;
  return html`<div class="code" tabindex="0" role="region" aria-label=${`${label}, scrolls`}>
    <table>
      <caption class="sr">${label}</caption>
      <tbody>
        ${rows.slice(0, maxLines).map((row, index) => {
          if (row.kind === 'fold')
            return html`<tr class="fold" key=${index}><td colspan="4">${countOf(row.count, 'line')} alike</td></tr>`;
          return html`<tr class=${classOf[row.kind]} key=${index}>
            <td class="ln">${row.before ?? ''}</td><td class="ln">${row.after ?? ''}</td>
            <td class="sgn">${signs[row.kind]}</td><td>${row.text}</td>
          </tr>`;
        })}
        ${left <= 0 ? null : html`<tr class="fold"><td colspan="4">${formatCount(left)} lines more: the API has them</td></tr>`}
      </tbody>
    </table>
  </div>`;
}
