import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { AuditEntry } from '#dashboard/page/api/records.ts';
import { useApiKeys } from '#dashboard/page/app/data/lists.ts';
import { pageItems, usePages } from '#dashboard/page/app/data/pages.ts';
import { useDownload } from '#dashboard/page/app/data/use-download.ts';
import { setSearch } from '#dashboard/page/app/routing/location.ts';
import { projectsIn } from '#dashboard/page/app/session/scope.ts';
import { useScope } from '#dashboard/page/app/session/scope-menu.ts';
import { useSession } from '#dashboard/page/app/session/session.ts';
import { classes, html } from '#dashboard/page/html.ts';
import { Time } from '#dashboard/page/parts/basics.ts';
import { Card, Empty, Filters, PageHead, ProblemBox, Skeleton, Table } from '#dashboard/page/parts/boxes.ts';
import { SelectField, TextField } from '#dashboard/page/parts/fields.ts';
import { ActorName, ResourceLink, useNames } from '#dashboard/page/parts/who.ts';
import { countOf } from '#dashboard/page/text/numbers.ts';
import { isProgress } from '#dashboard/page/text/progress-events.ts';
import { auditQuery, fitsFilters } from '#dashboard/page/views/audit/audit-filters.ts';
import { auditedKinds } from '#dashboard/page/views/audit/resource-kinds.ts';

interface AuditPage {
  readonly entries: ReadonlyArray<AuditEntry>;
  readonly nextCursor?: string | null;
}

/** Shows the newest entries first. New entries wait while somebody reads. */
export function AuditView({ search }: { search: URLSearchParams }): VNode {
  const query = auditQuery(search);
  return html`<${PageHead} title="Audit" />
    <${AuditFilters} search=${search} query=${query} />
    <${Entries} key=${query} query=${query} search=${search} />`;
}

function AuditFilters({ search, query }: { search: URLSearchParams; query: string }): VNode {
  const at = (name: string) => search.get(name) ?? '';
  return html`<${Filters}>
    <${SelectField} label="Resource" value=${auditedKinds.includes(at('resource')) ? at('resource') : ''} options=${[{ value: '', text: 'any' }, ...auditedKinds.map((value) => ({ value, text: value.replaceAll('-', ' ') }))]} onPick=${(resource: string) => setSearch({ resource })} />
    <${Settled} label="Type" name="type" value=${at('type')} placeholder="FlowVersionCreated" />
    <${ActorFilter} actor=${at('actor')} />
    <${Settled} label="Since" name="since" value=${at('since')} placeholder="2026-11-19 00:00" />
    <${Settled} label="Until" name="until" value=${at('until')} placeholder="now" />
    <${Export} query=${query} type="text/csv" label="CSV" file="audit.csv" />
    <${Export} query=${query} type="application/x-ndjson" label="NDJSON" file="audit.ndjson" />
  <//>`;
}

function ActorFilter({ actor }: { actor: string }): VNode {
  const names = useNames();
  const { scope } = useScope();
  const keys = useApiKeys(projectsIn(names, scope)).value?.items ?? [];
  const known = [
    ...keys.map(({ id, name }) => ({ value: id, text: name })),
    { value: 'system', text: 'Switchyard' },
    { value: 'local-operator', text: 'command line' },
  ];
  const isKnown = actor === '' || known.some(({ value }) => value === actor);
  const options = isKnown ? known : [...known, { value: actor, text: names.shown('key', actor) }];
  return html`<${SelectField} label="Actor" value=${actor} options=${[{ value: '', text: 'any' }, ...options]} onPick=${(picked: string) => setSearch({ actor: picked })} />`;
}

/** A field whose text is applied on Enter or when it loses the focus. */
function Settled(props: { label: string; name: string; value: string; placeholder: string }): VNode {
  const [text, setText] = useState(props.value);
  useEffect(() => setText(props.value), [props.value]);
  const apply = () => text !== props.value && setSearch({ [props.name]: text.trim() });
  return html`<div onFocusOut=${apply} class="field"><${TextField} label=${props.label} value=${text} placeholder=${props.placeholder} onText=${setText}
    onKeyDown=${(event: KeyboardEvent) => event.key === 'Enter' && apply()} /></div>`;
}

function Export({ query, type, label, file }: { query: string; type: string; label: string; file: string }): VNode {
  const download = useDownload();
  const [isBusy, setBusy] = useState(false);
  const save = async () => {
    setBusy(true);
    await download({
      path: `/v1/audit${query === '' ? '' : `?${query}`}`,
      name: file,
      headers: { accept: type },
      failure: `The ${label} file could not be made.`,
    });
    setBusy(false);
  };
  return html`<button type="button" class="btn" aria-busy=${String(isBusy)} onClick=${save}>${label}</button>`;
}

function Entries({ query, search }: { query: string; search: URLSearchParams }): VNode {
  const { api, live, names } = useSession();
  const [waiting, setWaiting] = useState<ReadonlyArray<AuditEntry>>([]);
  const [fresh, setFresh] = useState(0);
  const box = useRef<HTMLDivElement>(null);
  const isPointed = useRef(false);

  const list = usePages(query, async (after) => {
    const parameters = new URLSearchParams(query);
    parameters.set('limit', String(pageItems));
    if (after !== null) parameters.set('cursor', after);
    const page = await api.get<AuditPage>(`/v1/audit?${parameters}`);
    names.learnFrom(page.entries, false);
    return { items: page.entries, next: page.nextCursor ?? null };
  });
  const { items: entries, error, hasMore } = list;
  useEffect(
    () =>
      live.onEntry((entry) => {
        const isRead = isPointed.current || scrollY > 0;
        if (entry !== null) names.learnFrom([entry], true);
        if (entry === null) {
          if (!isRead) list.reload();
        } else if (fitsFilters(entry, search)) {
          if (isRead) setWaiting((was) => [entry, ...was]);
          else {
            list.add([entry]);
            setFresh(entry.position);
          }
        }
      }),
    [],
  );
  const showsProgress = search.get('progress') === 'shown' || search.get('type') !== null;
  const hidden = showsProgress ? 0 : (entries ?? []).filter(isProgress).length;
  const shown = showsProgress ? entries : (entries?.filter((entry) => !isProgress(entry)) ?? null);
  const show = () => {
    list.add(waiting);
    setWaiting([]);
    scrollTo(0, 0);
  };

  if (error !== null && entries === null)
    return html`<${Card} label="Audit"><${ProblemBox} error=${error} onRetry=${list.retry} /><//>`;
  if (entries === null) return html`<${Card} label="Audit"><${Skeleton} rows=${8} /><//>`;
  if (entries.length === 0 && !hasMore) {
    const clear = html`<button type="button" class="btn" onClick=${() => setSearch({ resource: null, type: null, actor: null, since: null, until: null })}>Clear filters</button>`;
    return html`<${Card} label="Audit"><${Empty} title=${query === '' ? 'No changes yet' : 'No entry matches these filters'} actions=${query === '' ? undefined : clear}>
      ${query === '' ? 'This list shows every change and the key that made it.' : 'Remove one of them to see more.'}<//><//>`;
  }
  return html`<div ref=${box} onPointerEnter=${() => {
    isPointed.current = true;
  }} onPointerLeave=${() => {
    isPointed.current = false;
  }}>
    <${Card} label="Audit">
      ${waiting.length === 0 ? null : html`<p class="waiting"><button type="button" onClick=${show}>${countOf(waiting.length, 'new entry', 'new entries')}</button></p>`}
      <${Table} caption="Audit, newest first" fold=${true} head=${html`<th scope="col">Time</th><th scope="col">What</th><th scope="col">Type</th><th scope="col">Resource</th><th scope="col">Actor</th>`}>
        ${shown?.map(
          (
            entry,
          ) => html`<tr key=${`${entry.position} ${entry.resource.id}`} class=${classes(entry.position === fresh && 'is-new')}>
            <td class="nowrap faint"><${Time} at=${entry.time} /></td>
            <td class="wide">${entry.summary}</td>
            <td class="mono faint later event-type">${entry.type}</td>
            <td class="later end"><${ResourceLink} resource=${entry.resource} /></td>
            <td class="end"><${ActorName} actor=${entry.actor} /></td>
          </tr>`,
        )}
      <//>
      ${error === null ? null : html`<${ProblemBox} error=${error} onRetry=${list.retry} />`}
      <footer>${countOf(entries.length - hidden, 'entry', 'entries')} shown
        ${hidden === 0 ? null : html`, <button type="button" class="btn link" onClick=${() => setSearch({ progress: 'shown' })}>${countOf(hidden, 'step', 'steps')} of operations hidden</button>`}
        ${hasMore ? html`<button type="button" class="btn quiet" onClick=${list.readMore}>Load ${pageItems} more</button>` : ', no more'}</footer>
    <//>
  </div>`;
}
