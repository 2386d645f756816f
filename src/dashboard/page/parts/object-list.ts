import type { VNode } from 'preact';
import type { ObjectListData } from '#dashboard/page/app/data/object-list.ts';
import { type Children, html } from '#dashboard/page/html.ts';
import { Card, Problem, Skeleton, Table } from '#dashboard/page/parts/boxes.ts';
import { countOf } from '#dashboard/page/text/numbers.ts';

interface ObjectListProps<Item> {
  readonly caption: string;
  /** The word for one item. */
  readonly noun: string;
  readonly nouns?: string;
  readonly list: ObjectListData<Item>;
  /** The cells of the head. */
  readonly head: Children;
  readonly row: (item: Item) => Children;
  /** What to show without items. */
  readonly empty: Children;
}

/** A list in OpenAI's form as a table: loading, empty, refused, or with a button for more. */
export function ObjectList<Item>({ caption, noun, nouns, list, head, row, empty }: ObjectListProps<Item>): VNode {
  const { items, error, hasMore } = list;
  if (items === null)
    return html`<${Card} label=${caption}>${error === null ? html`<${Skeleton} rows=${6} />` : html`<${Problem} error=${error} onRetry=${list.reload} />`}<//>`;
  if (items.length === 0) return html`<${Card} label=${caption}>${empty}<//>`;
  return html`<${Card} label=${caption}>
    <${Table} caption=${caption} fold=${true} head=${head}>${items.map(row)}<//>
    ${error === null ? null : html`<${Problem} error=${error} onRetry=${list.reload} />`}
    <footer>${countOf(items.length, noun, nouns)} shown${hasMore ? '' : ', no more'}
      ${hasMore ? html`<button type="button" class="btn quiet" onClick=${list.readMore}>Load more</button>` : null}</footer>
  <//>`;
}
