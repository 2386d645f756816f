import { createContext } from 'preact';
import { useContext, useEffect, useState } from 'preact/hooks';
import type { Api } from '#dashboard/page/api/api.ts';
import type { LiveFeed } from '#dashboard/page/api/live-feed.ts';
import type { Me } from '#dashboard/page/api/records.ts';
import type { Names } from '#dashboard/page/app/data/names.ts';
import type { Toasts } from '#dashboard/page/app/toasts.ts';

/** Everything that belongs to the key that is signed in. It ends with the tab. */
export interface Session {
  readonly api: Api;
  readonly me: Me;
  readonly live: LiveFeed;
  readonly names: Names;
  readonly toasts: Toasts;
  /** What was read last, by address: shown until it is read again. */
  readonly seen: Map<string, unknown>;
  readonly signOut: () => void;
}

export const SessionContext = createContext<Session | null>(null);

/** @throws Error outside of a session */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === null) throw new Error('There is no session here.');
  return session;
}

/** The current time, renewed in intervals. */
export function useNow(intervalMs: number): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), intervalMs);
    return () => clearInterval(timer);
  }, [intervalMs]);
  return now;
}
