import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Api } from '#dashboard/page/api/api.ts';
import { LiveFeedClient } from '#dashboard/page/api/live-feed-client.ts';
import { endSession, forgetSession, hasSession, onSignedOutElsewhere } from '#dashboard/page/api/page-session.ts';
import type { Me } from '#dashboard/page/api/records.ts';
import { Names } from '#dashboard/page/app/data/names.ts';
import { useLinks } from '#dashboard/page/app/routing/location.ts';
import type { OrganizationFilter } from '#dashboard/page/app/session/scope.ts';
import { ScopeContext } from '#dashboard/page/app/session/scope-menu.ts';
import { type Session, SessionContext } from '#dashboard/page/app/session/session.ts';
import { type SignedIn, SignIn } from '#dashboard/page/app/session/sign-in.ts';
import { Shell } from '#dashboard/page/app/shell.ts';
import { Toasts } from '#dashboard/page/app/toasts.ts';
import { html } from '#dashboard/page/html.ts';

/**
 * Asks for a key and then shows what the key may see. The browser keeps a session of the key; where the service gives
 * none, the key is only in the memory of this component.
 */
export function App(): VNode | null {
  const [session, setSession] = useState<Session | null>(null);
  const [reason, setReason] = useState<string | null>(null);
  const [scope, setScope] = useState<OrganizationFilter>({ organizationId: null });
  const [isResuming, setResuming] = useState(hasSession);
  useLinks();

  const signIn = ({ key, me }: SignedIn) => {
    const end = (why: string | null) => {
      if (key === null) forgetSession();
      created.live.stop();
      setSession(null);
      setReason(why);
    };
    const api = new Api(key, () => end(key === null ? sessionOver : keyRefused));
    const names = new Names(api);
    const created: Session = {
      api,
      me,
      names,
      live: new LiveFeedClient(api),
      toasts: new Toasts(),
      seen: new Map(),
      signOut: () => {
        if (key === null) void endSession();
        end(null);
      },
    };
    void names.load(me);
    created.live.start();
    setReason(null);
    setSession(created);
  };
  useEffect(() => {
    if (isResuming) void resume(signIn, setReason).then(() => setResuming(false));
  }, []);
  useEffect(() => onSignedOutElsewhere(() => location.reload()), []);

  if (isResuming) return null;
  if (session === null) return html`<${SignIn} key=${reason} reason=${reason} onSignIn=${signIn} />`;
  return html`<${SessionContext.Provider} value=${session}>
    <${ScopeContext.Provider} value=${{ scope, choose: setScope }}><${Shell} /><//>
  <//>`;
}

const keyRefused = 'This key does not work any more. It was revoked or replaced.';
const sessionOver =
  'You are signed out: after 12 hours, an hour without use, or because the key was revoked or replaced.';

/** Resumes the session if the browser still has it. */
async function resume(signIn: (signedIn: SignedIn) => void, setReason: (reason: string) => void): Promise<void> {
  try {
    signIn({ key: null, me: await new Api(null, forgetSession).get<Me>('/v1/me') });
  } catch {
    setReason(sessionOver);
  }
}
