import { apiErrorOf, toApiError } from '#dashboard/page/api/api-error.ts';

const path = '/dashboard/session';
/** Says that this browser has a session. It is not a secret: the session itself is in a cookie that no script can read. */
const storageKey = 'switchyard.session';

/** Without it the cookie of the session does not count. */
export const sessionHeader = 'switchyard-session';

/** @returns whether the browser has a session now; otherwise the page must keep the key @throws ApiError */
export async function beginSession(key: string): Promise<boolean> {
  const answer = await asked('POST', { authorization: `Bearer ${key}` });
  if (!answer.ok) throw apiErrorOf(answer.status, answer.headers, await answer.text());
  const { isKept } = (await answer.json()) as { readonly isKept: boolean };
  if (isKept) remember();
  return isKept;
}

/** Ends the session, in all tabs of this browser. It never throws: the service ends a session by itself, too. */
export async function endSession(): Promise<void> {
  forgetSession();
  await asked('DELETE', {}).catch(() => undefined);
}

/** Whether this browser had a session when the page was last here. */
export function hasSession(): boolean {
  try {
    return localStorage.getItem(storageKey) !== null;
  } catch {
    return false;
  }
}

/** Notes that the session is over. Other tabs see it. */
export function forgetSession(): void {
  try {
    localStorage.removeItem(storageKey);
  } catch {
    // The browser stores nothing.
  }
}

/** @returns a function that removes the listener */
export function onSignedOutElsewhere(listener: () => void): () => void {
  const take = (event: StorageEvent) => {
    if (event.key === storageKey && event.newValue === null) listener();
  };
  addEventListener('storage', take);
  return () => removeEventListener('storage', take);
}

function remember(): void {
  try {
    localStorage.setItem(storageKey, '1');
  } catch {
    // A reload signs out.
  }
}

async function asked(method: string, headers: Record<string, string>): Promise<Response> {
  try {
    return await fetch(path, { method, headers: { ...headers, [sessionHeader]: '1' }, cache: 'no-store' });
  } catch (error) {
    throw toApiError(error);
  }
}
