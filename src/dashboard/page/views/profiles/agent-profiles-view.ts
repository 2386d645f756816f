import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { Tagged } from '#dashboard/page/api/api.ts';
import type { AgentProfile } from '#dashboard/page/api/records.ts';
import { type ProjectItems, useAgentProfiles } from '#dashboard/page/app/data/lists.ts';
import { useData } from '#dashboard/page/app/data/use-data.ts';
import { addressOf } from '#dashboard/page/app/routing/router.ts';
import { projectsIn } from '#dashboard/page/app/session/scope.ts';
import { useScope } from '#dashboard/page/app/session/scope-menu.ts';
import { useSession } from '#dashboard/page/app/session/session.ts';
import { html } from '#dashboard/page/html.ts';
import { Badge, Time } from '#dashboard/page/parts/basics.ts';
import { Card, Empty, Loaded, PageHead, ProblemBox, Table } from '#dashboard/page/parts/boxes.ts';
import type { SeenResource } from '#dashboard/page/parts/dialogs/conflict.ts';
import { FormDialog } from '#dashboard/page/parts/dialogs/form-dialog.ts';
import { SelectField, TextField } from '#dashboard/page/parts/fields.ts';
import { ProjectsLeft } from '#dashboard/page/parts/projects-left.ts';
import { useNames } from '#dashboard/page/parts/who.ts';

export function AgentProfilesView(): VNode {
  const names = useNames();
  const { scope } = useScope();
  const [edited, setEdited] = useState<AgentProfile | 'new' | null>(null);
  const profiles = useAgentProfiles(projectsIn(names, scope));
  const create = html`<button type="button" class="btn primary" data-new onClick=${() => setEdited('new')}>New profile</button>`;
  return html`<${PageHead} title="Agent profiles" actions=${create} />
    <${Loaded} data=${profiles} rows=${6}>${({ items, projectsLeft }: ProjectItems<AgentProfile>) => html`
      <${ProjectsLeft} count=${projectsLeft} />
      <${Card} label="Agent profiles">${
        items.length === 0
          ? html`<${Empty} title="No agent profiles yet" actions=${html`<button type="button" class="btn primary" onClick=${() => setEdited('new')}>New profile</button>`}>
              A profile gives flows their languages, their reasoning and their voice.<//>`
          : html`<${Table} caption="Agent profiles" fold=${true} head=${html`<th scope="col">Profile</th><th scope="col">Reasoning</th><th scope="col">Languages</th><th scope="col">Voice</th><th scope="col">Flows</th><th scope="col">Project</th><th scope="col" class="num">Updated</th>`}>
              ${items.map((profile) => html`<${ProfileRow} key=${profile.id} profile=${profile} onEdit=${() => setEdited(profile)} />`)}
            <//>`
      }<//>`}<//>
    ${edited === 'new' ? html`<${ProfileDialog} profile=${null} onClose=${() => setEdited(null)} />` : null}
    ${edited === null || edited === 'new' ? null : html`<${EditDialog} key=${edited.id} id=${edited.id} onClose=${() => setEdited(null)} />`}`;
}

const shownFlows = 3;

function ProfileRow({ profile, onEdit }: { profile: AgentProfile; onEdit: () => void }): VNode {
  const names = useNames();
  const left = profile.flowIds.length - shownFlows;
  return html`<tr>
    <th scope="row"><button type="button" class="btn link" onClick=${onEdit}>${profile.name}</button> ${profile.isDefault ? html`<${Badge} tone="ok" plain=${true}>default<//>` : null}</th>
    <td>${profile.reasoningMode}</td>
    <td class="muted later">${profile.supportedInputLanguages.join(', ')}</td>
    <td class="muted later">${profile.outputVoiceId === '' ? html`<span class="faint">–</span>` : profile.outputVoiceId}</td>
    <td class="wide">${profile.flowIds.length === 0 ? html`<span class="faint">none</span>` : profile.flowIds.slice(0, shownFlows).map((id, index) => html`${index === 0 ? '' : ', '}<a href=${addressOf('flows', id)}>${names.shown('flow', id)}</a>`)}${left > 0 ? ` and ${left} more` : ''}</td>
    <td class="muted later">${names.ofProject(profile.projectId)}</td>
    <td class="num faint later end"><${Time} at=${profile.updatedAt} /></td>
  </tr>`;
}

/** Reads the profile when the dialog opens, because saving replaces the whole profile. */
function EditDialog({ id, onClose }: { id: string; onClose: () => void }): VNode | null {
  const { api } = useSession();
  const path = `/v1/agent-profiles/${id}`;
  const profile = useData<Tagged<AgentProfile>>(`${path} with its ETag`, { kinds: [] }, (signal) =>
    api.getTagged(path, signal),
  );
  if (profile.error !== null)
    return html`<${ProblemBox} error=${profile.error} onRetry=${profile.reload} inside=${false} />`;
  if (profile.value === null || profile.at === null) return null;
  const { value, etag } = profile.value;
  return html`<${ProfileDialog} profile=${value} seen=${{ path, etag }} onClose=${onClose} />`;
}

interface ProfileDialogProps {
  /** The profile to edit; null for a new profile. */
  readonly profile: AgentProfile | null;
  readonly seen?: SeenResource;
  readonly onClose: () => void;
}

function ProfileDialog({ profile, seen, onClose }: ProfileDialogProps): VNode {
  const { api, me } = useSession();
  const names = useNames();
  const [name, setName] = useState(profile?.name ?? '');
  const [reasoningMode, setReasoning] = useState(profile?.reasoningMode ?? 'balanced');
  const [languages, setLanguages] = useState((profile?.supportedInputLanguages ?? ['en']).join(', '));
  const [outputVoiceId, setVoice] = useState(profile?.outputVoiceId ?? '');
  const [isDefault, setDefault] = useState(profile?.isDefault ?? false);
  const [projectId, setProject] = useState(me.projectId);
  const save = async () => {
    const supportedInputLanguages = languages.split(/[\s,]+/).filter((language) => language !== '');
    const body = {
      name,
      reasoningMode,
      supportedInputLanguages,
      outputVoiceId,
      isDefault,
      flowIds: profile?.flowIds ?? [],
    };
    if (profile === null) await api.send('POST', `/v1/projects/${projectId}/agent-profiles`, body);
    else await api.send('PUT', `/v1/agent-profiles/${profile.id}`, body, { ifMatch: seen?.etag ?? null });
    return true;
  };
  const modes = [...new Set(['fast', 'balanced', 'smart', 'turbo', reasoningMode])].map((value) => ({
    value,
    text: value,
  }));
  return html`<${FormDialog} title=${profile === null ? 'New agent profile' : profile.name} doLabel=${profile === null ? 'Create profile' : 'Save'} onClose=${onClose} onSave=${save} seen=${seen} fields=${['/name']}>
    ${(problemAt: (pointer: string) => string | null) => html`
      ${profile === null ? html`<${SelectField} label="Project" value=${projectId} onPick=${setProject} options=${names.projects.map(({ id }) => ({ value: id, text: names.ofProject(id) }))} />` : null}
      <${TextField} label="Name" value=${name} onText=${setName} problem=${problemAt('/name')} />
      <${SelectField} label="Reasoning" value=${reasoningMode} options=${modes} onPick=${setReasoning} />
      <${TextField} label="Languages" value=${languages} onText=${setLanguages} hint="Codes with commas between: en, de" />
      <${TextField} label="Voice" value=${outputVoiceId} onText=${setVoice} />
      <label class="choice"><input type="checkbox" checked=${isDefault} onChange=${(event: Event) => setDefault((event.target as HTMLInputElement).checked)} />Default of the project</label>`}
  <//>`;
}
