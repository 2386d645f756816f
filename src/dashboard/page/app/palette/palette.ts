import type { VNode } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useFlows, useTemplates } from '#dashboard/page/app/data/lists.ts';
import { findIn, type PaletteItem } from '#dashboard/page/app/palette/palette-search.ts';
import { navigate } from '#dashboard/page/app/routing/location.ts';
import { entriesOf } from '#dashboard/page/app/routing/navigation.ts';
import { addressOf } from '#dashboard/page/app/routing/router.ts';
import { projectsIn } from '#dashboard/page/app/session/scope.ts';
import { useScope } from '#dashboard/page/app/session/scope-menu.ts';
import { type Session, useSession } from '#dashboard/page/app/session/session.ts';
import { html } from '#dashboard/page/html.ts';
import { Icon } from '#dashboard/page/parts/basics.ts';

/** Finds places and resources by a part of the name or by the id. */
export function Palette({ onClose }: { onClose: () => void }): VNode {
  const element = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const found = findIn(useItems(), text);
  const flat = found.flatMap(({ items }) => items);
  const chosen = flat[Math.min(at, flat.length - 1)];
  useLayoutEffect(() => {
    const opener = document.activeElement;
    element.current?.showModal();
    return () => {
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
    };
  }, []);
  useEffect(
    () => element.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' }),
    [at, text],
  );

  const open = (item: PaletteItem | undefined) => {
    if (item === undefined) return;
    onClose();
    item.run();
  };
  const pressed = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (event.key === 'Enter') open(chosen);
    else if (step !== 0)
      setAt((index) => (Math.min(index, flat.length - 1) + step + flat.length) % Math.max(1, flat.length));
    else return;
    event.preventDefault();
  };

  return html`<dialog class="palette" aria-label="Go to or do" ref=${element} onClose=${onClose}>
    <div class="ask">
      <${Icon} name="search" />
      <input type="text" role="combobox" aria-label="Go to or do" aria-expanded="true" aria-controls="found" autofocus
        aria-activedescendant=${chosen === undefined ? undefined : `found-${flat.indexOf(chosen)}`}
        autocomplete="off" spellcheck=${false} value=${text} onKeyDown=${pressed}
        onInput=${(event: Event) => {
          setText((event.target as HTMLInputElement).value);
          setAt(0);
        }} />
      <kbd>Esc</kbd>
    </div>
    <div class="found" id="found" role="listbox" aria-label="Found" tabindex="0">
      ${flat.length === 0 ? html`<p class="muted nothing">Nothing has this name or id.</p>` : null}
      ${found.map(
        ({ group, items }) => html`<div role="group" aria-label=${group} key=${group}>
          <span aria-hidden="true">${group}</span>
          ${items.map(
            (
              item,
            ) => html`<div role="option" key=${item.key} id=${`found-${flat.indexOf(item)}`} aria-selected=${String(item === chosen)} onClick=${() => open(item)}>
              ${item.title} <small>${item.note}</small>
            </div>`,
          )}
        </div>`,
      )}
    </div>
    <div class="keys"><span><kbd>↑</kbd> <kbd>↓</kbd> choose</span><span><kbd>Enter</kbd> open</span><span>an id opens its page</span></div>
  </dialog>`;
}

function useItems(): ReadonlyArray<PaletteItem> {
  const session = useSession();
  const { names } = session;
  const { scope } = useScope();
  const flows = useFlows(projectsIn(names, scope)).value?.items ?? [];
  const templates = useTemplates().value?.templates ?? [];
  const at = (group: string, key: string, title: string, note: string, address: string): PaletteItem => ({
    group,
    key,
    title,
    note,
    words: `${title} ${note} ${key}`,
    run: () => navigate(address),
  });
  return [
    ...flows.map((flow) =>
      at('Flows', flow.id, flow.name, names.ofProject(flow.projectId), addressOf('flows', flow.id)),
    ),
    ...templates.map(({ id, name, status }) =>
      at('Templates', id, name, status, addressOf('templates', null, { template: id })),
    ),
    ...names.customers.map(({ organizationId: id, name }) => at('Customers', id, name, '', addressOf('customers', id))),
    ...entriesOf(session.me).map(({ view, title, letter }) =>
      at('Go to', view, title, letter === null ? '' : `g ${letter}`, addressOf(view)),
    ),
    ...actionsOf(session),
  ];
}

function actionsOf({ live, signOut }: Session): ReadonlyArray<PaletteItem> {
  const action = (key: string, title: string, note: string, run: () => void) => ({
    group: 'Do',
    key,
    title,
    note,
    words: title,
    run,
  });
  return [
    live.state.paused
      ? action('live', 'Resume', '.', () => live.resume())
      : action('live', 'Pause', '.', () => live.pause()),
    action('docs', 'Open the API documentation', '', () => location.assign('/docs')),
    action('sign-out', 'Sign out', '', signOut),
  ];
}
