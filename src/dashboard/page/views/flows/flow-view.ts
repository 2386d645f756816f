import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { Tagged } from '#dashboard/page/api/api.ts';
import type { Flow, FlowVersion, HistoryEvent } from '#dashboard/page/api/records.ts';
import { useInstances } from '#dashboard/page/app/data/lists.ts';
import { goTo, setSearch } from '#dashboard/page/app/routing/location.ts';
import { addressOf } from '#dashboard/page/app/routing/router.ts';
import { useSession } from '#dashboard/page/app/session/session.ts';
import { html } from '#dashboard/page/html.ts';
import { Badge, Copy, More, Time } from '#dashboard/page/parts/basics.ts';
import { Card, Loaded, Notice, PageHead } from '#dashboard/page/parts/boxes.ts';
import { Feed } from '#dashboard/page/parts/feed.ts';
import { SelectField } from '#dashboard/page/parts/fields.ts';
import { useNames } from '#dashboard/page/parts/who.ts';
import { formatMoment } from '#dashboard/page/text/times.ts';
import { useFlow, useFlowHistory, useFlowVersions, useNumbersOf } from '#dashboard/page/views/flows/flow-data.ts';
import {
  ActivateDialog,
  DeleteFlowDialog,
  DescribeDialog,
  RestoreDialog,
} from '#dashboard/page/views/flows/flow-dialogs.ts';
import { FlowEditor } from '#dashboard/page/views/flows/flow-editor.ts';
import { type Station, stationsOf } from '#dashboard/page/views/flows/timeline.ts';
import { VersionDiff } from '#dashboard/page/views/flows/version-diff.ts';
import { VersionTimeline } from '#dashboard/page/views/flows/version-timeline.ts';

export function FlowView({ id, search }: { id: string; search: URLSearchParams }): VNode {
  const asOf = search.get('asOf');
  const flow = useFlow(id, asOf);
  const versions = useFlowVersions(id, asOf);
  const history = useFlowHistory(id);
  const { names } = useSession();
  if (flow.value !== null) names.learn('flow', id, flow.value.value.name);
  return html`<${Loaded} data=${flow} rows=${6}>${(tagged: Tagged<Flow>) =>
    html`<${Loaded} data=${versions}>${(known: ReadonlyArray<FlowVersion>) =>
      html`<${FlowPage} tagged=${tagged} versions=${known} history=${history.value ?? []} search=${search} asOf=${asOf} />`}<//>`}<//>`;
}

interface PageProps {
  readonly tagged: Tagged<Flow>;
  readonly versions: ReadonlyArray<FlowVersion>;
  readonly history: ReadonlyArray<HistoryEvent>;
  readonly search: URLSearchParams;
  readonly asOf: string | null;
}

type Opened =
  | { readonly dialog: 'activate' | 'describe' | 'delete' }
  | { readonly dialog: 'restore'; readonly station: Station };

function FlowPage({ tagged, versions, history, search, asOf }: PageProps): VNode {
  const [opened, setOpened] = useState<Opened | null>(null);
  const { value: flow, etag } = tagged;
  const active = versions.find(({ isActive }) => isActive) ?? null;
  const chosen = versions.find(({ id }) => id === search.get('version')) ?? versions[0] ?? null;
  const against = againstOf(versions, chosen, active, search.get('against'));
  const stations = stationsOf(versions, asOf === null ? history : []);
  const close = () => setOpened(null);
  const canChange = asOf === null;
  const shared = { flow, etag, versions, active, onClose: close };
  const edited = canChange ? (versions.find(({ id }) => id === search.get('edit')) ?? null) : null;
  const edit = () => setSearch({ edit: chosen?.id ?? null });
  return html`<${FlowHead} flow=${flow} active=${active} chosen=${chosen} stations=${stations} history=${history} asOf=${asOf} onOpen=${setOpened} onEdit=${edit} />
    ${asOf === null ? html`<${MadeBy} flow=${flow} />` : html`<${AsOfNotice} asOf=${asOf} history=${history} active=${active} />`}
    <div class="grid lead">
      <${VersionTimeline} flowId=${flow.id} stations=${stations} chosen=${chosen?.id ?? null} asOf=${asOf}
        onRestore=${canChange ? (station: Station) => setOpened({ dialog: 'restore', station }) : null} />
      <div class="stack">
        ${edited === null ? null : html`<${FlowEditor} key=${edited.id} flow=${flow} etag=${etag} base=${edited} />`}
        ${chosen === null || edited !== null ? null : html`<${VersionDiff} versions=${versions} chosen=${chosen} against=${against} />`}
        <${History} history=${history} />
      </div>
    </div>
    ${opened?.dialog === 'activate' && chosen !== null ? html`<${ActivateDialog} ...${shared} chosen=${chosen} />` : null}
    ${opened?.dialog === 'restore' ? html`<${RestoreDialog} ...${shared} station=${opened.station} next=${(stations[0]?.number ?? 0) + 1} />` : null}
    ${opened?.dialog === 'describe' ? html`<${DescribeDialog} ...${shared} />` : null}
    ${opened?.dialog === 'delete' ? html`<${DeleteFlowDialog} ...${shared} onGone=${() => goTo('flows')} />` : null}`;
}

/** The version to compare with: the requested one, otherwise the active one, otherwise the one before. */
function againstOf(
  versions: ReadonlyArray<FlowVersion>,
  chosen: FlowVersion | null,
  active: FlowVersion | null,
  asked: string | null,
): FlowVersion | null {
  if (asked === 'nothing' || chosen === null) return null;
  const found = versions.find(({ id }) => id === asked);
  if (found !== undefined && found !== chosen) return found;
  if (active !== null && active !== chosen) return active;
  return versions.find(({ version }) => version < chosen.version) ?? null;
}

interface HeadProps {
  readonly flow: Flow;
  readonly active: FlowVersion | null;
  readonly chosen: FlowVersion | null;
  readonly stations: ReadonlyArray<Station>;
  readonly history: ReadonlyArray<HistoryEvent>;
  readonly asOf: string | null;
  readonly onOpen: (opened: Opened) => void;
  readonly onEdit: () => void;
}

function FlowHead({ flow, active, chosen, stations, history, asOf, onOpen, onEdit }: HeadProps): VNode {
  const names = useNames();
  const numbers = useNumbersOf(flow).value?.phoneNumbers.length;
  const station = stations.find(({ id }) => id === active?.id);
  const title = html`${flow.name} <${Badge}>${flow.type}<//> <${Badge}>${flow.tier}<//>`;
  const facts: Array<readonly [string, unknown]> = [];
  if (active !== null)
    facts.push([
      'Active',
      html`<span class="strong">version ${active.version}${station?.tag ? `, ${station.tag}` : ''}</span>`,
    ]);
  if (station?.activeSince) facts.push(['since', html`<${Time} at=${station.activeSince} />`]);
  if (numbers !== undefined)
    facts.push([
      'Numbers',
      html`<a href=${addressOf('phone-numbers', null, { flow: flow.id })}>${numbers === 0 ? 'none' : String(numbers)}</a>`,
    ]);
  if (flow.agentProfileId !== null)
    facts.push([
      'Agent profile',
      html`<a href=${addressOf('agent-profiles')}>${names.shown('agent-profile', flow.agentProfileId)}</a>`,
    ]);
  facts.push(['Project', names.ofProject(flow.projectId)], ['Id', html`<${Copy} text=${flow.id} label="id" />`]);
  const isActive = chosen === null || chosen.isActive;
  const actions = html`<${AsOfChoice} history=${history} asOf=${asOf} />
    ${
      asOf !== null
        ? null
        : html`<button type="button" class="btn" data-new onClick=${onEdit}>Edit</button>
          ${isActive ? null : html`<button type="button" class="btn primary" onClick=${() => onOpen({ dialog: 'activate' })}>Activate version ${chosen.version}</button>`}
          <${More} label="More for this flow"><button type="button" class="btn quiet" onClick=${() => onOpen({ dialog: 'describe' })}>Describe</button>
          <button type="button" class="btn danger" onClick=${() => onOpen({ dialog: 'delete' })}>Delete</button><//>`
    }`;
  return html`<${PageHead} title=${title} actions=${actions} facts=${facts} />`;
}

const maxMoments = 200;

/** Offers the states after each event of the flow. */
function AsOfChoice({ history, asOf }: { history: ReadonlyArray<HistoryEvent>; asOf: string | null }): VNode {
  const moments = history.slice(1, maxMoments).map(({ revision, time, summary }) => ({
    value: String(revision),
    text: `${formatMoment(time)}: ${summary}`,
  }));
  return html`<${SelectField} label="As of" hideLabel=${true} value=${asOf ?? ''} options=${[{ value: '', text: 'As of now' }, ...moments]}
    onPick=${(revision: string) => setSearch({ asOf: revision, version: null, against: null })} />`;
}

function AsOfNotice({
  asOf,
  history,
  active,
}: {
  asOf: string;
  history: ReadonlyArray<HistoryEvent>;
  active: FlowVersion | null;
}): VNode {
  const event = history.find(({ revision }) => String(revision) === asOf);
  const back = html`<button type="button" class="btn" onClick=${() => setSearch({ asOf: null, version: null, against: null })}>Back to now</button>`;
  return html`<${Notice} tone="run" action=${back}>
    <strong>As it was on ${event === undefined ? asOf : formatMoment(event.time)}.</strong>
    ${active === null ? '' : ` Version ${active.version} was active.`} You cannot change anything here.
    ${history[0] === undefined ? null : html` <span class="small">Revision ${asOf} of ${history[0].revision}.</span>`}
  <//>`;
}

/** Warns that the next upgrade of the instance that made the flow replaces the flow's versions. */
function MadeBy({ flow }: { flow: Flow }): VNode | null {
  const instances = useInstances().value?.items ?? [];
  const instance = instances.find(({ resources }) => resources.flows.some(({ flowId }) => flowId === flow.id));
  const names = useNames();
  if (instance === undefined) return null;
  return html`<${Notice} tone="warn">
    Created by instance <a href=${addressOf('templates', null, { instance: instance.id })}>${instance.name}</a>
    ${names.of('template', instance.templateId) === null ? '' : ` of ${names.shown('template', instance.templateId)}`}.
    A version made by hand counts as drift. The next upgrade replaces it, unless you choose to refuse the upgrade.
  <//>`;
}

const shownAtFirst = 12;

function History({ history }: { history: ReadonlyArray<HistoryEvent> }): VNode {
  const [limit, setLimit] = useState(shownAtFirst);
  const items = history
    .slice(0, limit)
    .map(({ revision, time, type, summary, actor }) => ({ key: String(revision), time, type, summary, actor }));
  const left = history.length - limit;
  const aside =
    left <= 0
      ? undefined
      : html`<button type="button" class="btn link" onClick=${() => setLimit(history.length)}>All ${history.length} events</button>`;
  return html`<${Card} id="history" title="History" note="of the flow and its versions" aside=${aside}><${Feed} items=${items} /><//>`;
}
