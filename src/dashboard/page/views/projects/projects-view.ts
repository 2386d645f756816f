import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { Project } from '#dashboard/page/api/records.ts';
import { projectsIn } from '#dashboard/page/app/session/scope.ts';
import { useScope } from '#dashboard/page/app/session/scope-menu.ts';
import { useSession } from '#dashboard/page/app/session/session.ts';
import { html } from '#dashboard/page/html.ts';
import { Copy, Time } from '#dashboard/page/parts/basics.ts';
import { Card, Empty, PageHead, Table } from '#dashboard/page/parts/boxes.ts';
import { FormDialog } from '#dashboard/page/parts/dialogs/form-dialog.ts';
import { SelectField, TextField } from '#dashboard/page/parts/fields.ts';
import { useNames } from '#dashboard/page/parts/who.ts';

export function ProjectsView(): VNode {
  const { me } = useSession();
  const names = useNames();
  const { scope } = useScope();
  const [opened, setOpened] = useState<Project | 'new' | null>(null);
  const projects = projectsIn(names, scope);
  const mayChange = me.keyType !== 'project';
  const create = mayChange
    ? html`<button type="button" class="btn primary" data-new onClick=${() => setOpened('new')}>New project</button>`
    : undefined;
  return html`<${PageHead} title="Projects" actions=${create} />
    <${Card} label="Projects">${
      projects.length === 0
        ? html`<${Empty} title="No projects yet" actions=${create}>A project has flows, phone numbers, profiles, files and keys of its own.<//>`
        : html`<${Table} caption="Projects" fold=${true} head=${html`<th scope="col">Project</th><th scope="col">Organization</th><th scope="col">Id</th><th scope="col" class="num">Made</th><th scope="col" class="num"><span class="sr">Do</span></th>`}>
            ${projects.map(
              (project) => html`<tr key=${project.id}>
                <th scope="row">${project.name}</th>
                <td class="muted wide">${names.shown('organization', project.organizationId)}</td>
                <td class="later"><${Copy} text=${project.id} label="id" /></td>
                <td class="num faint later"><${Time} at=${project.createdAt} /></td>
                <td class="num later end">${mayChange ? html`<button type="button" class="btn quiet" aria-label=${`Rename ${project.name}`} onClick=${() => setOpened(project)}>Rename</button>` : ''}</td>
              </tr>`,
            )}
          <//>`
    }<//>
    ${opened === null ? null : html`<${ProjectDialog} project=${opened === 'new' ? null : opened} onClose=${() => setOpened(null)} />`}`;
}

function ProjectDialog({ project, onClose }: { project: Project | null; onClose: () => void }): VNode {
  const { api, me } = useSession();
  const names = useNames();
  const [name, setName] = useState(project?.name ?? '');
  const [organizationId, setOrganization] = useState(me.organizationId);
  const organizations = [...new Set([me.organizationId, ...names.projects.map((each) => each.organizationId)])];
  const save = async () => {
    if (project === null)
      await api.send('POST', '/v1/projects', {
        name,
        ...(organizationId === me.organizationId ? {} : { organizationId }),
      });
    else await api.send('PATCH', `/v1/projects/${project.id}`, { name });
    await names.load(me);
    return true;
  };
  return html`<${FormDialog} title=${project === null ? 'New project' : `Rename ${project.name}`} doLabel=${project === null ? 'Create project' : 'Rename project'} onClose=${onClose} onSave=${save} fields=${['/name']}>
    ${(problemAt: (pointer: string) => string | null) => html`
      <${TextField} label="Name" value=${name} autofocus=${true} onText=${setName} problem=${problemAt('/name')} />
      ${project === null && organizations.length > 1 ? html`<${SelectField} label="Organization" value=${organizationId} onPick=${setOrganization} options=${organizations.map((id) => ({ value: id, text: names.shown('organization', id) }))} />` : null}`}
  <//>`;
}
