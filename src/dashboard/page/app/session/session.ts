import { createContext } from 'preact';
import { useContext, useEffect, useState } from 'preact/hooks';
import type { Api } from '#dashboard/page/api/api.ts';
import type { LiveFeedClient } from '#dashboard/page/api/live-feed-client.ts';
import type { Me } from '#dashboard/page/api/records.ts';
import type { Names } from '#dashboard/page/app/data/names.ts';
import type { Toasts } from '#dashboard/page/app/toasts.ts';

/** The session of the signed-in key. Its objects exist until the tab closes. */
export interface Session {
  readonly api: Api;
  readonly me: Me;
  readonly live: LiveFeedClient;
  readonly names: Names;
  readonly toasts: Toasts;
  /** The last values, by address. The page shows them until it has read them again. */
  readonly seen: Map<string, unknown>;
  readonly signOut: () => void;
}

export const SessionContext = createContext<Session | null>(null);

/** @throws Error if nobody is signed in */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === null) throw new Error('Nobody is signed in.');
  return session;
}

/** Renders again after each interval. */
export function useNow(intervalMs: number): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), intervalMs);
    return () => clearInterval(timer);
  }, [intervalMs]);
  return now;
}
