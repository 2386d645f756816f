import type { VNode } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Instance, Template, TemplateVersion } from '#dashboard/page/api/records.ts';
import { setSearch } from '#dashboard/page/app/routing/location.ts';
import { classes, html } from '#dashboard/page/html.ts';
import { Badge, Status, Time } from '#dashboard/page/parts/basics.ts';
import { Share } from '#dashboard/page/parts/charts/share.ts';
import { useNames } from '#dashboard/page/parts/who.ts';
import { countOf } from '#dashboard/page/text/numbers.ts';
import {
  instanceNote,
  moveInTree,
  spreadOf,
  type TreeMove,
  type TreeRow,
  treeRows,
} from '#dashboard/page/views/templates/tree-rows.ts';

interface TreeProps {
  readonly templates: ReadonlyArray<Template>;
  readonly versions: ReadonlyMap<string, ReadonlyArray<TemplateVersion>>;
  readonly instances: ReadonlyArray<Instance>;
  /** The key of the chosen row; null for none. */
  readonly chosen: string | null;
}

const moves: Readonly<Record<string, TreeMove>> = {
  ArrowUp: 'up',
  ArrowDown: 'down',
  k: 'up',
  j: 'down',
  Home: 'first',
  End: 'last',
  ArrowRight: 'in',
  ArrowLeft: 'out',
};

/** Shows the templates as a tree, which can be folded with the keyboard. */
export function TemplateTree({ templates, versions, instances, chosen }: TreeProps): VNode {
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set());
  const [whole, setWhole] = useState<ReadonlySet<string>>(new Set());
  const [focused, setFocused] = useState<string | null>(null);
  const tree = useRef<HTMLDivElement>(null);
  const hasMoved = useRef(false);
  const rows = useMemo(
    () => treeRows({ templates, versions, instances, folded, whole }),
    [templates, versions, instances, folded, whole],
  );
  const current = rows.some(({ key }) => key === focused) ? focused : (rows[0]?.key ?? null);
  const numbers = useMemo(
    () => new Map([...versions.values()].flat().map(({ id, version }) => [id, version])),
    [versions],
  );
  useEffect(() => {
    if (!hasMoved.current) return;
    hasMoved.current = false;
    tree.current?.querySelector<HTMLElement>(`[data-key="${CSS.escape(current ?? '')}"]`)?.focus();
  }, [current, rows]);

  const toggle = (key: string) => setFolded((was) => toggled(was, key));
  const open = (row: TreeRow) => {
    setFocused(row.key);
    if (row.kind === 'more') setWhole((was) => toggled(was, row.parent));
    else if (row.kind === 'version' && row.instances.length > 0) toggle(row.key);
    else if (row.kind === 'instance') setSearch({ instance: row.key, template: null }, false);
    else if (row.kind === 'template') setSearch({ template: row.key, instance: null }, false);
  };
  const pressed = (event: KeyboardEvent) => {
    const row = rows.find(({ key }) => key === current);
    const move = moves[event.key];
    if (row === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Enter') open(row);
    else if (event.key === ' ' && (row.kind === 'template' || row.kind === 'version')) toggle(row.key);
    else if (move === undefined) return;
    else {
      const { focus, toggle: folding } = moveInTree(rows, row.key, move);
      hasMoved.current = true;
      if (folding !== null) toggle(folding);
      setFocused(focus);
    }
    event.preventDefault();
  };

  return html`<div class="tree" role="treegrid" aria-label="Templates, their versions and instances" ref=${tree} onKeyDown=${pressed}>
    <div class="tree-row tree-head" role="row">
      <span role="columnheader">Template, version, instance</span><span role="columnheader">State</span>
      <span role="columnheader">Where its instances are</span><span role="columnheader">Changed</span>
    </div>
    ${rows.map((row) => html`<${Row} key=${row.key} row=${row} isCurrent=${row.key === current} isChosen=${row.key === chosen} versions=${versions} instances=${instances} numbers=${numbers} onOpen=${() => open(row)} onToggle=${() => toggle(row.key)} />`)}
  </div>`;
}

function toggled(keys: ReadonlySet<string>, key: string): ReadonlySet<string> {
  const changed = new Set(keys);
  if (!changed.delete(key)) changed.add(key);
  return changed;
}

interface RowProps extends Pick<TreeProps, 'versions' | 'instances'> {
  readonly row: TreeRow;
  readonly isCurrent: boolean;
  readonly isChosen: boolean;
  readonly numbers: ReadonlyMap<string, number>;
  readonly onOpen: () => void;
  readonly onToggle: () => void;
}

const levels = { template: 1, version: 2, instance: 3, more: 3 } as const;

function Row(props: RowProps): VNode {
  const { row, isCurrent, isChosen, onOpen, onToggle } = props;
  const canFold = row.kind === 'template' || (row.kind === 'version' && row.instances.length > 0);
  const level = levels[row.kind];
  const clicked = (event: MouseEvent) => {
    const { left } = (event.currentTarget as HTMLElement).getBoundingClientRect();
    const isAtArrow = event.clientX - left < level * foldWidth;
    if (canFold && isAtArrow) onToggle();
    else onOpen();
  };
  return html`<div class=${classes('tree-row', `l${level}`, isChosen && 'is-chosen')} role="row" aria-level=${level} data-key=${row.key}
    aria-expanded=${canFold ? String('isOpen' in row && row.isOpen) : undefined} aria-selected=${String(isChosen)}
    tabindex=${isCurrent ? 0 : -1} onClick=${clicked}>
    <${Cells} ...${props} />
  </div>`;
}

/** The width in pixels at the left of a row, for each level: a click there folds instead of opening. */
const foldWidth = 40;

function Cells({ row, versions, instances, numbers }: RowProps): VNode {
  const names = useNames();
  switch (row.kind) {
    case 'template': {
      const { template } = row;
      return cells(
        html`<span class="strong">${template.name}</span>`,
        html`<${Status} status=${template.status} plain=${true} />`,
        html`<${Meter} versions=${versions.get(template.id) ?? []} instances=${instances.filter(({ templateId }) => templateId === template.id)} />`,
        template.updatedAt,
      );
    }
    case 'version': {
      const { version, instances: own, newestPublished } = row;
      const isPublished = version.publishedAt !== null;
      const where = !isPublished
        ? 'draft'
        : version.version === newestPublished
          ? 'newest'
          : own.length === 0
            ? ''
            : `${own.length} can go to ${newestPublished}`;
      return cells(
        html`<span>Version ${version.version}</span> <span class="faint">${version.tag}</span> <span class="faint small">${countOf(own.length, 'instance')}</span>`,
        html`<${Badge} tone=${isPublished ? 'ok' : 'idle'} plain=${true}>${isPublished ? 'published' : 'not published'}<//>`,
        where,
        version.publishedAt ?? version.createdAt,
      );
    }
    case 'instance': {
      const { instance } = row;
      const organization = names.of('organization', instance.organizationId);
      return cells(
        html`<span class="strong">${organization ?? instance.name}</span> ${organization === null ? null : html`<span class="faint">${instance.name}</span>`}`,
        html`<${Status} status=${instance.status} />`,
        instanceNote(instance, (id) => numbers.get(id) ?? null),
        instance.updatedAt,
      );
    }
    case 'more': {
      const active = row.instances.every(({ status }) => status === 'active');
      return cells(
        html`<span class="faint">${row.instances.length} more${active ? ', all active' : ''}</span>`,
        '',
        '',
        null,
      );
    }
  }
}

function cells(name: unknown, state: unknown, where: unknown, when: string | null): VNode {
  return html`<span class="name" role="gridcell">${name}</span><span role="gridcell">${state}</span>
    <span class="small muted" role="gridcell">${where}</span><span class="when" role="gridcell">${when === null ? '' : html`<${Time} at=${when} />`}</span>`;
}

function Meter({
  versions,
  instances,
}: {
  versions: ReadonlyArray<TemplateVersion>;
  instances: ReadonlyArray<Instance>;
}): VNode {
  const spread = spreadOf(versions, instances);
  if (instances.length === 0)
    return html`<span class="meter"><small>${versions.length === 0 ? 'no version yet' : 'no instances'}</small></span>`;
  const newest = versions.find(({ publishedAt }) => publishedAt !== null);
  const onNewest = spread.find(({ version }) => version.id === newest?.id)?.count ?? 0;
  const words = spread.map(({ version, count }) => `${count} on version ${version.version}`).join(', ');
  const parts = spread.map(({ version, count }) => ({
    tone: version.id === newest?.id ? 'tone-1' : 'tone-5',
    value: count,
  }));
  return html`<span class="meter"><${Share} label=${`${countOf(instances.length, 'instance')}: ${words}`} parts=${parts} />
    <small>${onNewest} of ${instances.length} on newest</small></span>`;
}
