import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { html } from '#dashboard/page/html.ts';
import { Badge, Icon } from '#dashboard/page/parts/basics.ts';
import { Card } from '#dashboard/page/parts/boxes.ts';

/** Shows a new secret, which is shown only once. */
export function NewSecret(props: { title: string; secret: string; note: string; onClose: () => void }): VNode {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(props.secret);
    setCopied(true);
  };
  return html`<${Card} id="new-secret" title=${props.title} aside=${html`<${Badge} tone="warn">shown once<//>`}>
    <div class="body">
      <p>Copy it now. It cannot be shown again. ${props.note}</p>
      <pre class="block" tabindex="0" role="region" aria-label="Secret">${props.secret}</pre>
      <div class="row">
        <button type="button" class="btn primary" onClick=${copy}><${Icon} name=${isCopied ? 'check' : 'copy'} />${isCopied ? 'Copied' : 'Copy'}</button>
        <button type="button" class="btn" onClick=${props.onClose}>I have it</button>
      </div>
    </div>
  <//>`;
}
