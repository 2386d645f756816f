import { useEffect } from 'preact/hooks';
import { type PagedList, pageItems, usePages } from '#dashboard/page/app/data/pages.ts';
import { useSession } from '#dashboard/page/app/session/session.ts';

/** Changes within this time cause one read. */
const gatherMs = 400;

/** A page in OpenAI's form. */
interface ObjectPage<Item> {
  readonly data: ReadonlyArray<Item>;
  readonly last_id: string | null;
  readonly has_more: boolean;
}

/**
 * Reads a list of the key's project in OpenAI's form, and reads it again when the live feed shows a change.
 * @param path without a page
 * @param kind of resource whose changes matter
 * @param everyMs an additional interval, for lists that change without events
 */
export function useObjectList<Item extends { readonly id: string }>(
  path: string,
  kind: string,
  everyMs?: number,
): PagedList<Item> {
  const { api, live } = useSession();
  const readPage = async (after: string | null) => {
    const query = new URLSearchParams({ limit: String(pageItems), ...(after === null ? {} : { after }) });
    const page = await api.get<ObjectPage<Item>>(`${path}${path.includes('?') ? '&' : '?'}${query}`);
    return { items: page.data, next: page.has_more ? page.last_id : null };
  };
  const list = usePages(path, readPage, ({ id }) => id);
  useEffect(() => {
    let gathering: ReturnType<typeof setTimeout> | undefined;
    const timer = everyMs === undefined ? undefined : setInterval(list.reload, everyMs);
    const stop = live.onEntry((entry) => {
      if (entry !== null && entry.resource.kind !== kind) return;
      clearTimeout(gathering);
      gathering = setTimeout(list.reload, gatherMs);
    });
    return () => {
      stop();
      clearTimeout(gathering);
      clearInterval(timer);
    };
  }, [path]);
  return list;
}
