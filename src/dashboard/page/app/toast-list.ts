import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { useSession } from '#dashboard/page/app/session/session.ts';
import { classes, html } from '#dashboard/page/html.ts';
import { Icon } from '#dashboard/page/parts/basics.ts';

export function ToastList(): VNode {
  const { toasts } = useSession();
  const [, setCount] = useState(0);
  useEffect(() => toasts.onChange(() => setCount((count) => count + 1)), [toasts]);
  return html`<div class="toasts">
    ${toasts.shown.map(
      ({
        id,
        tone,
        title,
        detail,
        action,
      }) => html`<div key=${id} class=${classes('toast', tone)} role=${tone === 'bad' ? 'alert' : 'status'}>
        <div><p>${title}</p>${detail === '' ? null : html`<p>${detail}</p>`}</div>
        ${
          action === null
            ? html`<button type="button" class="btn icon-only quiet" aria-label="Close" onClick=${() => toasts.close(id)}><${Icon} name="close" /></button>`
            : html`<button type="button" class="btn link" onClick=${() => {
                toasts.close(id);
                action.run();
              }}>${action.label}</button>`
        }
      </div>`,
    )}
  </div>`;
}
