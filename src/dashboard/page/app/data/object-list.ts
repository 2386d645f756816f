import { useEffect, useState } from 'preact/hooks';
import { type ApiError, toApiError } from '#dashboard/page/api/api-error.ts';
import { useSession } from '#dashboard/page/app/session/session.ts';

const pageItems = 50;
/** Changes within this time cause one read. */
const gatherMs = 400;

/** A list in OpenAI's form, read page by page. */
export interface ObjectListData<Item> {
  /** Null before the first answer. */
  readonly items: ReadonlyArray<Item> | null;
  readonly error: ApiError | null;
  readonly hasMore: boolean;
  readonly readMore: () => void;
  readonly reload: () => void;
}

interface Page<Item> {
  readonly data: ReadonlyArray<Item>;
  readonly last_id: string | null;
  readonly has_more: boolean;
}

/**
 * Reads a list of the key's project, and reads it again when the live feed shows a change.
 * @param path its address, without a page
 * @param kind the kind of resource whose changes matter
 * @param everyMs an additional interval, for lists that change without events
 */
export function useObjectList<Item>(path: string, kind: string, everyMs?: number): ObjectListData<Item> {
  const { api, live } = useSession();
  const [items, setItems] = useState<ReadonlyArray<Item> | null>(null);
  const [after, setAfter] = useState<string | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const read = async (from: string | null) => {
    const query = new URLSearchParams({ limit: String(pageItems), ...(from === null ? {} : { after: from }) });
    try {
      const page = await api.get<Page<Item>>(`${path}${path.includes('?') ? '&' : '?'}${query}`);
      setItems((was) => (from === null ? page.data : [...(was ?? []), ...page.data]));
      setAfter(page.has_more ? page.last_id : null);
      setError(null);
    } catch (why) {
      setError(toApiError(why));
    }
  };
  useEffect(() => {
    let gathering: ReturnType<typeof setTimeout> | undefined;
    void read(null);
    const timer = everyMs === undefined ? undefined : setInterval(() => void read(null), everyMs);
    const stop = live.onEntry((entry) => {
      if (entry !== null && entry.resource.kind !== kind) return;
      clearTimeout(gathering);
      gathering = setTimeout(() => void read(null), gatherMs);
    });
    return () => {
      stop();
      clearTimeout(gathering);
      clearInterval(timer);
    };
  }, [path]);
  return { items, error, hasMore: after !== null, readMore: () => void read(after), reload: () => void read(null) };
}
