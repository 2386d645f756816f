import { useEffect, useRef, useState } from 'preact/hooks';
import { type ApiError, toApiError } from '#dashboard/page/api/api-error.ts';

export const pageItems = 50;

/** A page of a list, or the pages that were read so far. */
export interface Page<Item> {
  readonly items: ReadonlyArray<Item>;
  /** The place of the next page; null at the end. */
  readonly next: string | null;
}

export interface PagedList<Item> {
  /** Null before the first answer. */
  readonly items: ReadonlyArray<Item> | null;
  /** The error of the last read. */
  readonly error: ApiError | null;
  readonly hasMore: boolean;
  readonly readMore: () => void;
  /** Reads the first page again. */
  readonly reload: () => void;
  /** Repeats the read that has failed. */
  readonly retry: () => void;
  /** Shows further items before the others. */
  readonly add: (items: ReadonlyArray<Item>) => void;
}

/**
 * Reads the pages of a list.
 * @param key another key is another list
 * @param readPage reads the first page, or the one after a place; it may throw an ApiError
 * @param idOf identifies an item, so that a reload keeps later pages. Without it the list begins again.
 */
export function usePages<Item>(
  key: string,
  readPage: (after: string | null) => Promise<Page<Item>>,
  idOf: ((item: Item) => string) | null = null,
): PagedList<Item> {
  const [shown, setShown] = useState<Page<Item> | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const lastAfter = useRef<string | null>(null);
  const read = async (after: string | null) => {
    lastAfter.current = after;
    try {
      const page = await readPage(after);
      setShown((was) => (after === null ? withFirstPage(was, page, idOf) : withNextPage(was, page)));
      setError(null);
    } catch (why) {
      setError(toApiError(why));
    }
  };
  useEffect(() => {
    setShown(null);
    void read(null);
  }, [key]);
  return {
    items: shown?.items ?? null,
    error,
    hasMore: (shown?.next ?? null) !== null,
    readMore: () => void read(shown?.next ?? null),
    reload: () => void read(null),
    retry: () => void read(lastAfter.current),
    add: (items) => setShown((was) => ({ items: [...items, ...(was?.items ?? [])], next: was?.next ?? null })),
  };
}

function withNextPage<Item>(shown: Page<Item> | null, page: Page<Item>): Page<Item> {
  return { ...page, items: [...(shown?.items ?? []), ...page.items] };
}

/** Replaces the first page by the one as it is now. The items that follow this page stay. */
export function withFirstPage<Item>(
  shown: Page<Item> | null,
  first: Page<Item>,
  idOf: ((item: Item) => string) | null,
): Page<Item> {
  const last = first.items.at(-1);
  if (shown === null || idOf === null || last === undefined || first.next === null) return first;
  const index = shown.items.findIndex((item) => idOf(item) === idOf(last));
  const later = index === -1 ? [] : shown.items.slice(index + 1);
  return later.length === 0 ? first : { items: [...first.items, ...later], next: shown.next };
}
