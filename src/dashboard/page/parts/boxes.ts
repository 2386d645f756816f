import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { ApiError } from '#dashboard/page/api/api-error.ts';
import type { Data } from '#dashboard/page/app/data/use-data.ts';
import { type Children, classes, html } from '#dashboard/page/html.ts';
import { Badge, Time, type Tone } from '#dashboard/page/parts/basics.ts';

export function Card(props: {
  title?: Children;
  note?: Children;
  aside?: Children;
  id?: string;
  label?: string;
  className?: string;
  children?: Children;
}): VNode {
  const { title, note, aside, id, label } = props;
  const header =
    title === undefined
      ? null
      : html`<header>
          <h2 id=${id && `${id}-title`}>${title}</h2>
          ${note === undefined ? null : html`<p>${note}</p>`}
          ${aside === undefined ? null : html`<span class="push">${aside}</span>`}
        </header>`;
  const name =
    label === undefined
      ? { 'aria-labelledby': id && title !== undefined ? `${id}-title` : undefined }
      : { 'aria-label': label };
  return html`<section class=${classes('card', props.className)} id=${id} ...${name}>${header}${props.children}</section>`;
}

export function PageHead(props: {
  title: Children;
  actions?: Children;
  facts?: ReadonlyArray<readonly [string, Children]>;
}): VNode {
  const { facts = [] } = props;
  return html`<div class="head">
    <div><h1>${props.title}</h1></div>
    <div class="actions">${props.actions}</div>
    ${
      facts.length === 0
        ? null
        : html`<dl class="facts">${facts.map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`
    }
  </div>`;
}

/** Says what the list is for, and what the next step is. */
export function Empty(props: { title: string; children?: Children; command?: string; actions?: Children }): VNode {
  return html`<div class="empty">
    <h3>${props.title}</h3>
    <p>${props.children}</p>
    ${props.command === undefined ? null : html`<pre class="block" tabindex="0" role="region" aria-label="Command">${props.command}</pre>`}
    ${props.actions === undefined ? null : html`<div class="row">${props.actions}</div>`}
  </div>`;
}

/** A notice with a coloured edge for its status. */
export function Notice(props: {
  tone: Tone;
  inside?: boolean;
  role?: string;
  action?: Children;
  children?: Children;
}): VNode {
  return html`<div class=${classes('notice', props.tone, props.inside && 'in')} role=${props.role}>
    <p>${props.children}</p>
    ${props.action}
  </div>`;
}

/** Shows an error in the words of the service, at the place where it happened. */
export function ProblemBox(props: { error: ApiError; onRetry?: (() => void) | undefined; inside?: boolean }): VNode {
  const { error, onRetry, inside = true } = props;
  const retry =
    onRetry === undefined ? null : html`<button type="button" class="btn" onClick=${onRetry}>Try now</button>`;
  return html`<${Notice} tone="bad" inside=${inside} role="alert" action=${retry}>
    ${error.message} <span class="small">${error.status === 0 ? '' : `Answer ${error.status}.`}
    ${error.requestId === null ? null : html` Request <code>${error.requestId}</code>`}</span>
  <//>`;
}

/** A placeholder in the shape of the awaited content. */
export function Skeleton({ rows = 3, figure = false }: { rows?: number; figure?: boolean }): VNode {
  const widths = ['w3', 'w2', 'w1'];
  return html`<div class="body" role="status" aria-busy="true" aria-label="Loading">
    ${figure ? html`<span class="skel fig"></span><span class="skel plot"></span>` : null}
    ${Array.from({ length: rows }, (_, index) => html`<span key=${index} class=${classes('skel', widths[index % widths.length])}></span>`)}
  </div>`;
}

/** Shows a value, or the reason for its absence. An old value stays, dimmed and with its time. */
export function Loaded<Value>(props: {
  data: Data<Value>;
  rows?: number;
  children: (value: Value) => Children;
}): VNode | null {
  const { data, rows = 3 } = props;
  const { value, error, at } = data;
  if (value === null) {
    if (error !== null) return html`<${ProblemBox} error=${error} onRetry=${data.reload} />`;
    if (data.isSlow) return html`<${Skeleton} rows=${rows} />`;
    return data.isLoading ? html`<div aria-busy="true" hidden></div>` : null;
  }
  if (error === null) return html`${props.children(value)}`;
  return html`<div class="is-stale">
    <${ProblemBox} error=${error} onRetry=${data.reload} />
    ${at === null ? null : html`<p class="as-of"><${Badge} tone="bad">as of <${Time} at=${at} /><//></p>`}
    ${props.children(value)}
  </div>`;
}

/** On a narrow screen a button folds them. */
export function Filters({ children }: { children?: Children }): VNode {
  const [isOpen, setOpen] = useState(false);
  return html`<div class=${classes('filters', isOpen && 'is-open')}>
    <button type="button" class="btn fold-filters" aria-expanded=${String(isOpen)} onClick=${() => setOpen(!isOpen)}>Filters</button>
    ${children}
  </div>`;
}

/** A table in a scrolling box. @param fold becomes a list on a narrow screen */
export function Table(props: {
  caption: string;
  fold?: boolean;
  head: Children;
  foot?: Children;
  children?: Children;
}): VNode {
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${props.caption}>
    <table class=${props.fold ? 'fold' : ''}>
      <caption class="sr">${props.caption}</caption>
      <thead><tr>${props.head}</tr></thead>
      <tbody>${props.children}</tbody>
      ${props.foot === undefined ? null : html`<tfoot>${props.foot}</tfoot>`}
    </table>
  </div>`;
}
