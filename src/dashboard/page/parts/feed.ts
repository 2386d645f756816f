import type { VNode } from 'preact';
import type { HistoryActor, ResourceName } from '#dashboard/page/api/records.ts';
import { type Children, html } from '#dashboard/page/html.ts';
import { Time } from '#dashboard/page/parts/basics.ts';
import { ActorName, ResourceLink } from '#dashboard/page/parts/who.ts';

export interface FeedItem {
  readonly key: string;
  readonly time: string;
  readonly type: string;
  readonly summary: string;
  readonly actor: HistoryActor | null;
  /** The resource, if the sentence does not name it. */
  readonly resource?: ResourceName;
  readonly isNew?: boolean;
}

export function Feed({ items }: { items: ReadonlyArray<FeedItem> }): VNode {
  return html`<ol class="feed">
    ${items.map(
      (item) => html`<li key=${item.key} class=${item.isNew ? 'is-new' : ''}>
        <${Time} at=${item.time} />
        <span>${sentence(item)}</span>
        <span class="who">by <${ActorName} actor=${item.actor} /></span>
      </li>`,
    )}
  </ol>`;
}

function sentence({ resource, summary, type }: FeedItem): Children {
  if (resource === undefined) return html`${summary} <span class="faint mono small">${type}</span>`;
  return html`<${ResourceLink} resource=${resource} /> <span class="muted">${summary}</span>`;
}
