import type { VNode } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { getAll } from '#dashboard/page/api/api.ts';
import type { Instance, Template, TemplateVersion } from '#dashboard/page/api/records.ts';
import { useInstances, useTemplates } from '#dashboard/page/app/data/lists.ts';
import { useData } from '#dashboard/page/app/data/use-data.ts';
import { setSearch } from '#dashboard/page/app/routing/location.ts';
import { useScope } from '#dashboard/page/app/session/scope-menu.ts';
import { useSession } from '#dashboard/page/app/session/session.ts';
import { type Children, html } from '#dashboard/page/html.ts';
import { Card, Empty, Filters, Loaded, PageHead } from '#dashboard/page/parts/boxes.ts';
import { FormDialog } from '#dashboard/page/parts/dialogs/form-dialog.ts';
import { SelectField, TextField } from '#dashboard/page/parts/fields.ts';
import { useNames } from '#dashboard/page/parts/who.ts';
import { countOf } from '#dashboard/page/text/numbers.ts';
import { InstancePanel } from '#dashboard/page/views/templates/instance-panel.ts';
import { TemplatePanel } from '#dashboard/page/views/templates/template-panel.ts';
import { TemplateTree } from '#dashboard/page/views/templates/template-tree.ts';
import { newestPublishedOf } from '#dashboard/page/views/templates/tree-rows.ts';

/** Maximum number of templates whose versions are read. The page says how many it leaves out. */
const maxTemplates = 60;
const maxVersions = 1_000;

export function TemplatesView({ search }: { search: URLSearchParams }): VNode {
  const { me } = useSession();
  const [isNew, setNew] = useState(false);
  const mayHaveTemplates = me.keyType === 'admin' || me.keyType === 'partner';
  const instances = useInstances();
  if (!mayHaveTemplates)
    return html`<${PageHead} title="Instances" /><${Loaded} data=${instances}>${({ items }: { items: ReadonlyArray<Instance> }) => html`<${Page} templates=${[]} instances=${items} search=${search} />`}<//>`;
  return html`<${WithTemplates} search=${search} instances=${instances.value?.items ?? []} onNew=${() => setNew(true)} />
    ${isNew ? html`<${NewTemplateDialog} onClose=${() => setNew(false)} />` : null}`;
}

function WithTemplates(props: {
  search: URLSearchParams;
  instances: ReadonlyArray<Instance>;
  onNew: () => void;
}): VNode {
  const templates = useTemplates();
  const { scope } = useScope();
  const instances = props.instances.filter(
    ({ organizationId }) => scope.organizationId === null || organizationId === scope.organizationId,
  );
  const actions = html`<button type="button" class="btn primary" data-new onClick=${props.onNew}>New template</button>`;
  const known = templates.value?.templates ?? [];
  const count = (status: string) => known.filter((template) => template.status === status).length;
  const counted = ['published', 'draft', 'archived']
    .flatMap((status) => (count(status) === 0 ? [] : [`${count(status)} ${status}`]))
    .join(', ');
  const running = instances.filter(({ operation }) => operation !== null).length;
  const facts = [
    ['Templates', counted === '' ? 'none' : counted],
    ['Instances', String(instances.length)],
    ...(running === 0 ? [] : [['Operations running', String(running)]]),
  ];
  return html`<${PageHead} title="Templates" actions=${actions} facts=${templates.value === null ? [] : facts} />
    <${Loaded} data=${templates} rows=${6}>${({ templates: all }: { templates: ReadonlyArray<Template> }) =>
      all.length === 0
        ? html`<${Card} label="Templates"><${Empty} title="No templates yet" actions=${html`<button type="button" class="btn primary" onClick=${props.onNew}>New template</button>`}>
            A template bundles flows, an agent profile and knowledge bases. Customers get instances of its published versions.<//><//>`
        : html`<${Page} templates=${all} instances=${instances} search=${props.search} />`}<//>`;
}

type Show = '' | 'behind' | 'undone' | 'unmet';

function Page({
  templates,
  instances,
  search,
}: {
  templates: ReadonlyArray<Template>;
  instances: ReadonlyArray<Instance>;
  search: URLSearchParams;
}): VNode {
  const names = useNames();
  const text = (search.get('name') ?? '').toLowerCase();
  const status = search.get('status') ?? '';
  const show = (search.get('show') ?? '') as Show;
  const versions = useVersions(templates.slice(0, maxTemplates));
  const newest = useMemo(
    () => new Map([...versions].map(([id, known]) => [id, newestPublishedOf(known)?.id])),
    [versions],
  );
  const hasFilter = text !== '' || status !== '' || show !== '';
  const found = instances.filter((instance) => {
    const words =
      `${instance.name} ${names.of('organization', instance.organizationId) ?? ''} ${names.of('template', instance.templateId) ?? ''}`.toLowerCase();
    if (!words.includes(text) || (status !== '' && instance.status !== status)) return false;
    if (show === 'behind') return newest.get(instance.templateId) !== instance.templateVersionId;
    if (show === 'undone') return instance.lastOperation?.outcome === 'undone';
    return show !== 'unmet' || instance.phoneNumberRequirements.some(({ phoneNumberId }) => phoneNumberId === null);
  });
  const shown = hasFilter
    ? templates.filter(
        (template) =>
          template.name.toLowerCase().includes(text) || found.some(({ templateId }) => templateId === template.id),
      )
    : templates;
  const chosen = search.get('instance') ?? search.get('template');
  const instance = instances.find(({ id }) => id === search.get('instance'));
  const template = templates.find(({ id }) => id === search.get('template'));
  const panel =
    instance !== undefined
      ? html`<${InstancePanel} key=${instance.id} id=${instance.id} versions=${versions.get(instance.templateId) ?? []} />`
      : template !== undefined
        ? html`<${TemplatePanel} key=${template.id} template=${template} versions=${versions.get(template.id) ?? []} />`
        : null;
  const left = templates.length - maxTemplates;
  return html`<${TemplateFilters} search=${search} />
    <div class=${panel === null ? 'stack' : 'grid aside'}>
      <div class="stack">
        <${Card} label="Tree of templates">
          ${
            shown.length === 0 && hasFilter
              ? html`<${Empty} title="Nothing fits these filters" actions=${html`<button type="button" class="btn" onClick=${() => setSearch({ name: null, status: null, show: null })}>Clear filters</button>`}>
                  ${countOf(templates.length, 'template')} and ${countOf(instances.length, 'instance')} without them.<//>`
              : templates.length === 0
                ? html`<${InstanceList} instances=${found} />`
                : html`<${TemplateTree} templates=${shown.slice(0, maxTemplates)} versions=${versions} instances=${found} chosen=${chosen} />`
          }
          ${left <= 0 ? null : html`<footer>${countOf(left, 'template')} more are not shown: filter by name.</footer>`}
        <//>
      </div>
      ${panel === null ? null : html`<${SidePanel} key=${chosen}>${panel}<//>`}
    </div>`;
}

/** Shows the details of the chosen row. On a narrow screen they are below the tree, and the page scrolls to them. */
function SidePanel({ children }: { children?: Children }): VNode {
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (matchMedia('(max-width: 68rem)').matches) element.current?.scrollIntoView();
  }, []);
  return html`<div ref=${element}>${children}</div>`;
}

/** Shows the instances to keys that may know of them but not of templates. */
function InstanceList({ instances }: { instances: ReadonlyArray<Instance> }): VNode {
  if (instances.length === 0)
    return html`<${Empty} title="No instances yet">Your partner makes instances of its templates in your projects.<//>`;
  return html`<ul class="tree">${instances.map(
    (instance) =>
      html`<li key=${instance.id}><a class="tree-row" href=${`?instance=${instance.id}`} onClick=${(event: Event) => {
        event.preventDefault();
        setSearch({ instance: instance.id }, false);
      }}><span class="name strong">${instance.name}</span><span>${instance.status}</span></a></li>`,
  )}</ul>`;
}

function TemplateFilters({ search }: { search: URLSearchParams }): VNode {
  const states = ['provisioning', 'active', 'failed'].map((value) => ({ value, text: value }));
  const shows = [
    { value: '', text: 'everything' },
    { value: 'behind', text: 'behind the newest version' },
    { value: 'undone', text: 'last operation undone' },
    { value: 'unmet', text: 'numbers to be met' },
  ];
  return html`<${Filters}>
    <${TextField} label="Name or customer" type="search" value=${search.get('name') ?? ''} onText=${(name: string) => setSearch({ name })} />
    <${SelectField} label="State of instance" value=${search.get('status') ?? ''} options=${[{ value: '', text: 'any' }, ...states]} onPick=${(status: string) => setSearch({ status })} />
    <${SelectField} label="Show" value=${search.get('show') ?? ''} options=${shows} onPick=${(show: string) => setSearch({ show })} />
  <//>`;
}

/** Reads the versions, newest first. */
function useVersions(templates: ReadonlyArray<Template>): ReadonlyMap<string, ReadonlyArray<TemplateVersion>> {
  const { api, names } = useSession();
  const key = templates.length === 0 ? null : `versions of ${templates.map(({ id }) => id).join()}`;
  const read = useData<ReadonlyMap<string, ReadonlyArray<TemplateVersion>>>(
    key,
    { kinds: ['template', 'template-version'] },
    async (signal) => {
      const lists = await Promise.all(
        templates.map(async ({ id }) => {
          const { items } = await getAll<TemplateVersion>(api, `/v1/templates/${id}/versions`, 'versions', {
            maxItems: maxVersions,
            signal,
          });
          return [id, [...items].sort((one, other) => other.version - one.version)] as const;
        }),
      );
      return new Map(lists);
    },
  );
  useEffect(() => {
    for (const { id, name } of templates) names.learn('template', id, name);
  }, [templates]);
  return read.value ?? new Map();
}

function NewTemplateDialog({ onClose }: { onClose: () => void }): VNode {
  const { api } = useSession();
  const [name, setName] = useState('');
  const [description, setDescription] = useState('');
  const save = async () => {
    const made = await api.send<Template>('POST', '/v1/templates', {
      name,
      ...(description === '' ? {} : { description }),
    });
    setSearch({ template: made.id, instance: null });
    return true;
  };
  return html`<${FormDialog} title="New template" doLabel="Create template" onClose=${onClose} onSave=${save} fields=${['/name', '/description']}>
    ${(problemAt: (pointer: string) => string | null) => html`
      <${TextField} label="Name" value=${name} autofocus=${true} onText=${setName} problem=${problemAt('/name')} hint="1 to 200 characters" />
      <${TextField} label="Description" rows=${3} value=${description} onText=${setDescription} problem=${problemAt('/description')} />`}
  <//>`;
}
