import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Api } from '#dashboard/page/api/api.ts';
import { toApiError } from '#dashboard/page/api/api-error.ts';
import { beginSession } from '#dashboard/page/api/page-session.ts';
import type { Me } from '#dashboard/page/api/records.ts';
import { html } from '#dashboard/page/html.ts';
import { Badge, Mark } from '#dashboard/page/parts/basics.ts';
import { Card } from '#dashboard/page/parts/boxes.ts';
import { TextField } from '#dashboard/page/parts/fields.ts';

/** The service gives sessions on its own machine, and at the https address that it knows. */
const mayHaveSession = () => isSecureContext;

interface Health {
  readonly service: string;
  readonly version: string;
}

/** What a sign-in gives: a session of the browser, or a key that the page keeps. */
export interface SignedIn {
  /** Null for a session. */
  readonly key: string | null;
  readonly me: Me;
}

/** @param reason why the last session ended; null at first */
export function SignIn(props: { reason: string | null; onSignIn: (signedIn: SignedIn) => void }): VNode {
  const [key, setKey] = useState('');
  const [problem, setProblem] = useState<string | null>(props.reason);
  const [isBusy, setBusy] = useState(false);
  const [health, setHealth] = useState<Health | null>(null);
  useEffect(() => {
    fetch('/healthz').then(
      async (answer) => answer.ok && setHealth((await answer.json()) as Health),
      () => undefined,
    );
  }, []);

  const signIn = async (event: Event) => {
    event.preventDefault();
    const presented = key.trim();
    if (presented === '') return setProblem('Paste a key first.');
    setBusy(true);
    try {
      const me = await new Api(presented, () => undefined).get<Me>('/v1/me');
      props.onSignIn({ key: (await beginSession(presented)) ? null : presented, me });
    } catch (error) {
      const refusal = toApiError(error);
      setProblem(
        refusal.status === 401
          ? 'This key opens nothing here: it was revoked or replaced, or never existed.'
          : refusal.message,
      );
      setBusy(false);
    }
  };

  return html`<div class="sign">
    <header class="sr"><p>Switchyard dashboard</p></header>
    <main id="main">
      <h1 class="brand"><${Mark} /><span>Switchyard</span></h1>
      <form class="stack" onSubmit=${signIn}>
        <${TextField}
          label="API key"
          type="password"
          mono=${true}
          autofocus=${true}
          placeholder="sy_live_…"
          value=${key}
          onText=${(text: string) => {
            setKey(text);
            setProblem(null);
          }}
          problem=${problem}
        />
        <button class="btn primary" aria-busy=${String(isBusy)}>Sign in</button>
        <p class="hint">${mayHaveSession() ? 'You stay signed in for 12 hours at most, and for an hour without use. The page does not keep the key.' : 'Kept in this tab’s memory only. Closing or reloading the tab signs you out.'}</p>
      </form>
      <${Card} id="no-key" title="No key yet?">
        <div class="body">
          <p class="muted">
            The first start prints an admin key once. To choose the key yourself, generate one and start the service
            with it as <code>BOOTSTRAP_API_KEY</code>. If the key is lost, <code>npm run keys -- admin</code> makes another
            one. Partners get a key from their operator.
          </p>
          <pre class="block" tabindex="0" role="region" aria-label="Command">npm run keys -- generate</pre>
        </div>
      <//>
    </main>
    <footer>
      ${health === null ? null : html`<span><${Badge} tone="ok" plain=${true}>The service is running<//></span>`}
      <a href="/docs">API docs</a>
      ${health === null ? null : html`<span>version ${health.version}</span>`}
    </footer>
  </div>`;
}
