import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { type NavCount, useNavCounts } from '#dashboard/page/app/data/nav-counts.ts';
import { LiveIndicator } from '#dashboard/page/app/live-indicator.ts';
import { KeyList } from '#dashboard/page/app/palette/key-list.ts';
import { Palette } from '#dashboard/page/app/palette/palette.ts';
import { useShortcuts } from '#dashboard/page/app/palette/shortcuts.ts';
import { usePlace } from '#dashboard/page/app/routing/location.ts';
import { navigationOf, shortNavigation, titleOf } from '#dashboard/page/app/routing/navigation.ts';
import { addressOf, type Place, type ViewName } from '#dashboard/page/app/routing/router.ts';
import { ViewOf } from '#dashboard/page/app/routing/view-of.ts';
import { ScopeMenu } from '#dashboard/page/app/session/scope-menu.ts';
import { useSession } from '#dashboard/page/app/session/session.ts';
import { ThemeChoice } from '#dashboard/page/app/theme.ts';
import { ToastList } from '#dashboard/page/app/toast-list.ts';
import { classes, html } from '#dashboard/page/html.ts';
import { Icon, Mark } from '#dashboard/page/parts/basics.ts';
import { useNames } from '#dashboard/page/parts/who.ts';

export function Shell(): VNode {
  const place = usePlace();
  const [overlay, setOverlay] = useState<'palette' | 'keys' | null>(null);
  useShortcuts({ onPalette: () => setOverlay('palette'), onHelp: () => setOverlay('keys') });
  useTitle(place);
  const close = () => setOverlay(null);
  return html`<a class="skip" href="#main" onClick=${skipToMain}>Skip to content</a>
    <div class="shell">
      <${SideNavigation} place=${place} />
      <div class="column">
        <${TopBar} place=${place} onFind=${() => setOverlay('palette')} />
        <${ReadOnlyNotice} />
        <main id="main" tabindex="-1"><${ViewOf} key=${`${place.view} ${place.id ?? ''}`} place=${place} /></main>
      </div>
    </div>
    <${BottomBar} place=${place} />
    <${ToastList} />
    ${overlay === 'palette' ? html`<${Palette} onClose=${close} />` : null}
    ${overlay === 'keys' ? html`<${KeyList} onClose=${close} />` : null}`;
}

/** Shows the notice in the service's own words. */
function ReadOnlyNotice(): VNode | null {
  const { live } = useSession();
  const [text, setText] = useState(live.readOnly);
  useEffect(() => live.onState(() => setText(live.readOnly)), [live]);
  return text === null ? null : html`<p class="read-only" role="status">${text}</p>`;
}

function SideNavigation({ place }: { place: Place }): VNode {
  const { me, signOut } = useSession();
  const counts = useNavCounts();
  const side = useRef<HTMLElement>(null);
  const close = () => {
    if (side.current?.matches(':popover-open')) side.current.hidePopover();
  };
  return html`<nav class="side" id="side" aria-label="Main" popover="auto" ref=${side} onClick=${(event: Event) => (event.target as Element).closest('a') && close()}>
    <a class="brand" href=${addressOf('overview')}><${Mark} /><span>Switchyard</span></a>
    <${ScopeMenu} />
    <div class="stack">
      ${navigationOf(me).map(
        ({ title: groupTitle, entries }, index) => html`<div class="links" key=${index}>
          ${groupTitle === null ? null : html`<h2 id=${`group-${index}`}>${groupTitle}</h2>`}
          <ul aria-labelledby=${groupTitle === null ? undefined : `group-${index}`}>${entries.map(
            ({ view, title }) => html`<li key=${view}>
              <a href=${addressOf(view)} aria-current=${view === place.view ? 'page' : undefined}>${title}${drawnCount(counts.get(view))}</a>
            </li>`,
          )}</ul>
        </div>`,
      )}
    </div>
    <div class="foot">
      <${ThemeChoice} />
      <span class="row"><a href="/docs">API docs</a><button type="button" class="btn link" onClick=${signOut}>Sign out</button></span>
    </div>
  </nav>`;
}

function drawnCount(count: NavCount | undefined): VNode | null {
  if (count === undefined) return null;
  return html`<span class=${classes('count', count.tone && `is-${count.tone}`)}>${count.text}</span>`;
}

function TopBar({ place, onFind }: { place: Place; onFind: () => void }): VNode {
  return html`<header class="topbar">
    <a class="brand" href=${addressOf('overview')} aria-label="Switchyard, overview"><${Mark} /></a>
    <nav aria-label="Where you are" class="clip"><${Crumbs} place=${place} /></nav>
    <button type="button" class="find push" aria-label="Go to or do" onClick=${onFind}>
      <${Icon} name="search" /><span>Go to or do</span><kbd>/</kbd>
    </button>
    <${LiveIndicator} />
  </header>`;
}

/** Kinds of resource that have a page of their own and a name. */
const namedKinds: Readonly<Partial<Record<ViewName, string>>> = {
  flows: 'flow',
  customers: 'organization',
  stores: 'store',
};

function Crumbs({ place }: { place: Place }): VNode {
  const names = useNames();
  const { view, id } = place;
  if (id === null)
    return html`<ol class="crumbs"><li aria-current="page"><span class="clip">${titleOf(view)}</span></li></ol>`;
  const kind = namedKinds[view];
  const name = kind === undefined ? id : names.shown(kind, id);
  return html`<ol class="crumbs">
    <li><a href=${addressOf(view)}>${titleOf(view)}</a></li>
    <li aria-current="page"><span class="clip">${name}</span></li>
  </ol>`;
}

function BottomBar({ place }: { place: Place }): VNode {
  return html`<nav class="bottom" aria-label="Main, short">
    ${shortNavigation.map(
      (view) =>
        html`<a key=${view} href=${addressOf(view)} aria-current=${view === place.view ? 'page' : undefined}>${titleOf(view)}</a>`,
    )}
    <button type="button" popovertarget="side">More</button>
  </nav>`;
}

function useTitle({ view }: Place): void {
  useEffect(() => {
    document.title = `${titleOf(view)} · Switchyard`;
  }, [view]);
}

function skipToMain(event: Event): void {
  event.preventDefault();
  document.getElementById('main')?.focus();
}
