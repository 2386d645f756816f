import type { VNode } from 'preact';
import { html } from '#dashboard/page/html.ts';
import { Dialog } from '#dashboard/page/parts/dialogs/dialog.ts';

const keys: ReadonlyArray<readonly [ReadonlyArray<string>, string]> = [
  [['/'], 'go to or do; also Ctrl K'],
  [['g', 'o'], 'overview'],
  [['g', 'f'], 'flows'],
  [['g', 't'], 'templates'],
  [['g', 'w'], 'gateway'],
  [['g', 'a'], 'audit'],
  [['g', 'p'], 'projections'],
  [['g', 'k'], 'keys'],
  [['j'], 'next row'],
  [['k'], 'previous row'],
  [['Enter'], 'open'],
  [['Esc'], 'close'],
  [['n'], 'new'],
  [['.'], 'pause or resume'],
  [['Ctrl', 'Enter'], 'send in the playground'],
  [['?'], 'this list'],
];

export function KeyList({ onClose }: { onClose: () => void }): VNode {
  const close = html`<button type="button" class="btn" onClick=${onClose}>Close</button>`;
  return html`<${Dialog} title="Keyboard" onClose=${onClose} footer=${close}>
    <dl class="kv">
      ${keys.map(([pressed, what]) => html`<dt key=${what}>${pressed.map((key) => html`<kbd>${key}</kbd> `)}</dt><dd>${what}</dd>`)}
    </dl>
  <//>`;
}
