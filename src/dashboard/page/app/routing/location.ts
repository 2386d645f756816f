import { useEffect, useState } from 'preact/hooks';
import { addressOf, type Place, readPlace, type ViewName } from '#dashboard/page/app/routing/router.ts';

const listeners = new Set<() => void>();
const question = 'Leave? What you have typed is not saved.';
/** There is text that is not saved. */
let hasUnsaved = false;

/** Asks before the user leaves the page, or before it shows something else. @returns a function that ends this */
export function askBeforeLeaving(): () => void {
  const ask = (event: BeforeUnloadEvent) => event.preventDefault();
  hasUnsaved = true;
  addEventListener('beforeunload', ask);
  return () => {
    hasUnsaved = false;
    removeEventListener('beforeunload', ask);
  };
}

function mayLeave(): boolean {
  return !hasUnsaved || confirm(question);
}

/** @param replace leaves the current address out of the browser's history */
export function navigate(address: string, replace = false): void {
  if (!mayLeave()) return;
  hasUnsaved = false;
  if (replace) history.replaceState(null, '', address);
  else history.pushState(null, '', address);
  if (!replace) scrollTo(0, 0);
  for (const listener of [...listeners]) listener();
}

export function goTo(view: ViewName, id: string | null = null, search: Readonly<Record<string, string>> = {}): void {
  navigate(addressOf(view, id, search));
}

/** Changes the search in the address of this view. Empty values are removed. */
export function setSearch(changes: Readonly<Record<string, string | null>>, replace = true): void {
  const search = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === '') search.delete(name);
    else search.set(name, value);
  }
  const query = search.toString();
  navigate(`${location.pathname}${query === '' ? '' : `?${query}`}`, replace);
}

/** Renders again when the place changes. */
export function usePlace(): Place {
  const [place, setPlace] = useState(currentPlace);
  useEffect(() => {
    let shown = location.pathname + location.search;
    const moved = () => {
      shown = location.pathname + location.search;
      setPlace(currentPlace());
    };
    listeners.add(moved);
    const movedBack = () => {
      // The browser has gone already: this returns to where the text is.
      if (mayLeave()) moved();
      else history.pushState(null, '', shown);
    };
    addEventListener('popstate', movedBack);
    return () => {
      listeners.delete(moved);
      removeEventListener('popstate', movedBack);
    };
  }, []);
  return place;
}

/** Follows links without loading the page again. */
export function useLinks(): void {
  useEffect(() => {
    const followed = (event: MouseEvent) => {
      if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
      const link = (event.target as Element | null)?.closest?.('a[href]');
      if (!(link instanceof HTMLAnchorElement) || link.target !== '' || link.origin !== location.origin) return;
      if (readPlace(link.pathname) === null || link.hash !== '') return;
      event.preventDefault();
      navigate(link.pathname + link.search);
    };
    document.addEventListener('click', followed);
    return () => document.removeEventListener('click', followed);
  }, []);
}

function currentPlace(): Place {
  return readPlace(location.pathname, location.search) ?? { view: 'overview', id: null, search: new URLSearchParams() };
}
