import { useEffect, useRef } from 'preact/hooks';
import { goTo } from '#dashboard/page/app/routing/location.ts';
import { entriesOf } from '#dashboard/page/app/routing/navigation.ts';
import { useSession } from '#dashboard/page/app/session/session.ts';

/** Actions of shortcuts that open a dialog. */
export interface ShortcutActions {
  readonly onPalette: () => void;
  readonly onHelp: () => void;
}

/** Time limit between `g` and the next letter. */
const letterMs = 1_500;
/** The elements that `j` and `k` move through: the first link or button of each row. */
const rowSelector = 'main :is(tbody tr, .feed li, .attention li, .versions li) :is(a[href], button):first-of-type';

/** Single letters do nothing while somebody types or a dialog is open. */
export function useShortcuts(actions: ShortcutActions): void {
  const { me, live } = useSession();
  const latest = useRef(actions);
  latest.current = actions;
  useEffect(() => {
    let goUntil = 0;
    const letters = new Map(entriesOf(me).map(({ letter, view }) => [letter, view]));
    const pressed = (event: KeyboardEvent) => {
      if (event.defaultPrevented) return;
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k')
        return act(event, latest.current.onPalette);
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event) || isInDialog()) return;
      const isAfterG = Date.now() < goUntil;
      goUntil = 0;
      const view = letters.get(event.key);
      if (isAfterG && view !== undefined) return act(event, () => goTo(view));
      switch (event.key) {
        case 'g':
          goUntil = Date.now() + letterMs;
          return;
        case '/':
          return act(event, latest.current.onPalette);
        case '?':
          return act(event, latest.current.onHelp);
        case '.':
          return act(event, () => (live.state.paused ? live.resume() : live.pause()));
        case 'n':
          return act(event, () => document.querySelector<HTMLElement>('main [data-new]')?.click());
        case 'j':
          return act(event, () => moveRow(1));
        case 'k':
          return act(event, () => moveRow(-1));
      }
    };
    document.addEventListener('keydown', pressed);
    return () => document.removeEventListener('keydown', pressed);
  }, [me, live]);
}

function act(event: KeyboardEvent, run: () => void): void {
  event.preventDefault();
  run();
}

function isTyping({ target }: KeyboardEvent): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}

function isInDialog(): boolean {
  return document.querySelector('dialog[open]') !== null;
}

function moveRow(step: number): void {
  const rows = [...document.querySelectorAll<HTMLElement>(rowSelector)].filter((row) => row.checkVisibility());
  const at = rows.indexOf(document.activeElement as HTMLElement);
  rows[at === -1 && step < 0 ? rows.length - 1 : Math.min(rows.length - 1, Math.max(0, at + step))]?.focus();
}
