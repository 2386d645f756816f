import type { VNode } from 'preact';
import { type PagedList, pageItems } from '#dashboard/page/app/data/pages.ts';
import { type Children, html } from '#dashboard/page/html.ts';
import { Card, ProblemBox, Skeleton, Table } from '#dashboard/page/parts/boxes.ts';
import { countOf } from '#dashboard/page/text/numbers.ts';

interface PagedTableProps<Item> {
  readonly label: string;
  /** Default: the label. */
  readonly caption?: string;
  /** Names one item: `flow`. */
  readonly noun: string;
  readonly nouns?: string;
  readonly list: PagedList<Item>;
  readonly head: Children;
  readonly row: (item: Item, index: number) => Children;
  /** Takes the place of the table without items. */
  readonly empty: Children;
  /** Buttons below the table. */
  readonly actions?: Children;
}

/** A table that is loading, empty, refused, or has a button for more. */
export function PagedTable<Item>(props: PagedTableProps<Item>): VNode {
  const { label, caption = label, noun, nouns, list, head, row, empty, actions } = props;
  const { items, error, hasMore } = list;
  if (items === null)
    return html`<${Card} label=${label}>${error === null ? html`<${Skeleton} rows=${8} />` : html`<${ProblemBox} error=${error} onRetry=${list.retry} />`}<//>`;
  if (items.length === 0) return html`<${Card} label=${label}>${empty}<//>`;
  return html`<${Card} label=${label}>
    <${Table} caption=${caption} fold=${true} head=${head}>${items.map(row)}<//>
    ${error === null ? null : html`<${ProblemBox} error=${error} onRetry=${list.retry} />`}
    <footer>${countOf(items.length, noun, nouns)} shown${hasMore ? '' : ', no more'}
      ${actions}
      ${hasMore ? html`<button type="button" class="btn quiet" onClick=${list.readMore}>Load ${pageItems} more</button>` : null}</footer>
  <//>`;
}
