import type { VNode } from 'preact';
import { html } from '#dashboard/page/html.ts';
import type { Change, SentencePart } from '#dashboard/page/text/parts-of-text.ts';

const words = { add: 'Added', del: 'Removed', mod: 'Changed' } as const;

export function Changes({ changes }: { changes: ReadonlyArray<Change> }): VNode {
  return html`<ul class="changes">
    ${changes.map(
      ({ op, parts }, index) =>
        html`<li key=${index}><span class=${`op ${op}`}>${words[op]}</span><span>${parts.map(drawn)}</span></li>`,
    )}
  </ul>`;
}

function drawn({ kind, text }: SentencePart) {
  switch (kind) {
    case 'code':
      return html`<code>${text}</code>`;
    case 'del':
      return html`<del>${text}</del>`;
    case 'ins':
      return html`<ins>${text}</ins>`;
    default:
      return text;
  }
}
