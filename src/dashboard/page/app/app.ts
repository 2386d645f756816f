import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { Api } from '#dashboard/page/api/api.ts';
import { LiveFeed } from '#dashboard/page/api/live-feed.ts';
import type { Me } from '#dashboard/page/api/records.ts';
import { Names } from '#dashboard/page/app/data/names.ts';
import { useLinks } from '#dashboard/page/app/routing/location.ts';
import type { Scope } from '#dashboard/page/app/session/scope.ts';
import { ScopeContext } from '#dashboard/page/app/session/scope-menu.ts';
import { type Session, SessionContext } from '#dashboard/page/app/session/session.ts';
import { SignIn } from '#dashboard/page/app/session/sign-in.ts';
import { Shell } from '#dashboard/page/app/shell.ts';
import { Toasts } from '#dashboard/page/app/toasts.ts';
import { html } from '#dashboard/page/html.ts';

/** The page. It asks for a key and then shows what the key may see. The key is only in the memory of this component. */
export function App(): VNode {
  const [session, setSession] = useState<Session | null>(null);
  const [reason, setReason] = useState<string | null>(null);
  const [scope, setScope] = useState<Scope>({ organizationId: null });
  useLinks();

  const signIn = (key: string, me: Me) => {
    const end = (why: string | null) => {
      created.live.stop();
      setSession(null);
      setReason(why);
    };
    const api = new Api(key, () => end('This key does not work any more. It was revoked or replaced.'));
    const names = new Names(api);
    const created: Session = {
      api,
      me,
      names,
      live: new LiveFeed(api),
      toasts: new Toasts(),
      seen: new Map(),
      signOut: () => end(null),
    };
    void names.load(me);
    created.live.start();
    setReason(null);
    setSession(created);
  };

  if (session === null) return html`<${SignIn} key=${reason} reason=${reason} onSignIn=${signIn} />`;
  return html`<${SessionContext.Provider} value=${session}>
    <${ScopeContext.Provider} value=${{ scope, choose: setScope }}><${Shell} /><//>
  <//>`;
}
