import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { Flow } from '#dashboard/page/api/records.ts';
import { type ProjectItems, useFlows } from '#dashboard/page/app/data/lists.ts';
import { goTo, setSearch } from '#dashboard/page/app/routing/location.ts';
import { addressOf } from '#dashboard/page/app/routing/router.ts';
import { projectsIn } from '#dashboard/page/app/session/scope.ts';
import { useScope } from '#dashboard/page/app/session/scope-menu.ts';
import { useSession } from '#dashboard/page/app/session/session.ts';
import { html } from '#dashboard/page/html.ts';
import { Badge, Time } from '#dashboard/page/parts/basics.ts';
import { Card, Empty, Filters, Loaded, PageHead, Table } from '#dashboard/page/parts/boxes.ts';
import { FormDialog } from '#dashboard/page/parts/dialogs/form-dialog.ts';
import { useNewDialog } from '#dashboard/page/parts/dialogs/use-new-dialog.ts';
import { SelectField, TextField } from '#dashboard/page/parts/fields.ts';
import { ProjectsLeft } from '#dashboard/page/parts/projects-left.ts';
import { useNames } from '#dashboard/page/parts/who.ts';
import { countOf } from '#dashboard/page/text/numbers.ts';

const command = `curl -X POST $URL/v1/projects/$PROJECT/flows -H 'x-api-key: …' \\
  -H 'content-type: application/json' -d '{"name":"Greeting","flowSchema":{"start":"greet"}}'`;

export function FlowsView({ search }: { search: URLSearchParams }): VNode {
  const names = useNames();
  const { scope } = useScope();
  const [isNew, setNew] = useNewDialog(search);
  const projects = projectsIn(names, scope);
  const flows = useFlows(projects);
  const create = html`<button type="button" class="btn primary" data-new onClick=${() => setNew(true)}>New flow</button>`;
  return html`<${PageHead} title="Flows" actions=${create} facts=${
    flows.value === null
      ? []
      : [
          ['Flows', String(flows.value.items.length)],
          ['Projects', String(projects.length)],
        ]
  } />
    <${Loaded} data=${flows} rows=${6}>${(all: ProjectItems<Flow>) => html`<${FlowList} all=${all} search=${search} onNew=${() => setNew(true)} />`}<//>
    ${isNew ? html`<${NewFlowDialog} onClose=${() => setNew(false)} />` : null}`;
}

function FlowList({
  all,
  search,
  onNew,
}: {
  all: ProjectItems<Flow>;
  search: URLSearchParams;
  onNew: () => void;
}): VNode {
  const names = useNames();
  const { items } = all;
  const text = search.get('name') ?? '';
  const type = search.get('type') ?? '';
  const found = items.filter((flow) => {
    const words = `${flow.name} ${names.ofProject(flow.projectId)}`.toLowerCase();
    return words.includes(text.toLowerCase()) && (type === '' || flow.type === type);
  });
  if (items.length === 0) {
    return html`<${Card} label="Flows"><${Empty} title="No flows yet" command=${command}
      actions=${html`<button type="button" class="btn primary" onClick=${onNew}>New flow</button>`}>
      A flow defines what an agent says and asks. It starts with version 1, which is active.<//><//>`;
  }
  return html`<${Filters}>
      <${TextField} label="Name or project" type="search" value=${text} onText=${(name: string) => setSearch({ name })} />
      <${SelectField} label="Type" value=${type} onPick=${(picked: string) => setSearch({ type: picked })}
        options=${[{ value: '', text: 'any' }, { value: 'simple', text: 'simple' }, { value: 'graph', text: 'graph' }]} />
    <//>
    <${ProjectsLeft} count=${all.projectsLeft} />
    <${Card} label="Flows">
      ${
        found.length === 0
          ? html`<${Empty} title="No flow matches these filters" actions=${html`<button type="button" class="btn" onClick=${() => setSearch({ name: null, type: null })}>Clear filters</button>`}>
              ${countOf(items.length, 'flow')} without them.<//>`
          : html`<${Table} caption="Flows" fold=${true} head=${html`<th scope="col">Flow</th><th scope="col">Type</th><th scope="col">Tier</th><th scope="col">Project</th><th scope="col">Agent profile</th><th scope="col" class="num">Changed</th>`}>
              ${found.map((flow) => html`<${FlowRow} key=${flow.id} flow=${flow} />`)}
            <//>`
      }
    <//>`;
}

function FlowRow({ flow }: { flow: Flow }): VNode {
  const names = useNames();
  return html`<tr>
    <th scope="row"><a href=${addressOf('flows', flow.id)}>${flow.name}</a></th>
    <td><${Badge}>${flow.type}<//></td>
    <td class="muted later">${flow.tier}</td>
    <td class="wide">${names.ofProject(flow.projectId)}</td>
    <td class="muted later">${flow.agentProfileId === null ? html`<span class="faint">–</span>` : names.shown('agent-profile', flow.agentProfileId)}</td>
    <td class="num faint later end"><${Time} at=${flow.updatedAt} /></td>
  </tr>`;
}

function NewFlowDialog({ onClose }: { onClose: () => void }): VNode {
  const { api, me } = useSession();
  const names = useNames();
  const [name, setName] = useState('');
  const [type, setType] = useState('simple');
  const [projectId, setProject] = useState(me.projectId);
  const [schema, setSchema] = useState('{\n  "say": "Good day. How can I help you?"\n}');
  const [problem, setProblem] = useState<string | null>(null);
  const save = async () => {
    let flowSchema: unknown;
    try {
      flowSchema = JSON.parse(schema);
    } catch {
      setProblem('This is not JSON yet.');
      return false;
    }
    const made = await api.send<Flow>('POST', `/v1/projects/${projectId}/flows`, { name, type, flowSchema });
    goTo('flows', made.id);
    return true;
  };
  return html`<${FormDialog} title="New flow" doLabel="Create flow" onClose=${onClose} onSave=${save} fields=${['/name']}>
    ${(problemAt: (pointer: string) => string | null) => html`
      <${TextField} label="Name" value=${name} onText=${setName} autofocus=${true} problem=${problemAt('/name')} hint="1 to 200 characters" />
      <${SelectField} label="Project" value=${projectId} onPick=${setProject} options=${names.projects.map(({ id }) => ({ value: id, text: names.ofProject(id) }))} />
      <${SelectField} label="Type" value=${type} onPick=${setType} options=${[{ value: 'simple', text: 'simple' }, { value: 'graph', text: 'graph' }]} />
      <${TextField} label="flowSchema" rows=${8} mono=${true} value=${schema} problem=${problem} onText=${(
        text: string,
      ) => {
        setSchema(text);
        setProblem(null);
      }} />`}
  <//>`;
}
