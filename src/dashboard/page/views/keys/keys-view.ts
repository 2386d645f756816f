import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { ApiKey } from '#dashboard/page/api/records.ts';
import { type ProjectItems, useApiKeys } from '#dashboard/page/app/data/lists.ts';
import { projectsIn } from '#dashboard/page/app/session/scope.ts';
import { useScope } from '#dashboard/page/app/session/scope-menu.ts';
import { useSession } from '#dashboard/page/app/session/session.ts';
import { html } from '#dashboard/page/html.ts';
import { Badge, Time } from '#dashboard/page/parts/basics.ts';
import { Card, Empty, Loaded, PageHead, Table } from '#dashboard/page/parts/boxes.ts';
import { ConfirmChange } from '#dashboard/page/parts/dialogs/confirm-change.ts';
import { FormDialog } from '#dashboard/page/parts/dialogs/form-dialog.ts';
import { NewSecret } from '#dashboard/page/parts/dialogs/new-secret.ts';
import { useNewDialog } from '#dashboard/page/parts/dialogs/use-new-dialog.ts';
import { SelectField, TextField } from '#dashboard/page/parts/fields.ts';
import { ProjectsLeft } from '#dashboard/page/parts/projects-left.ts';
import { useNames } from '#dashboard/page/parts/who.ts';

type Opened = { readonly dialog: 'rotate' | 'revoke'; readonly key: ApiKey } | null;

interface Secret {
  readonly name: string;
  readonly key: string;
}

export function KeysView({ search }: { search: URLSearchParams }): VNode {
  const names = useNames();
  const { scope } = useScope();
  const { me, toasts } = useSession();
  const [isNew, setNew] = useNewDialog(search);
  const [opened, setOpened] = useState<Opened>(null);
  const [secret, setSecret] = useState<Secret | null>(null);
  const keys = useApiKeys(projectsIn(names, scope));
  const close = () => setOpened(null);
  const create = html`<button type="button" class="btn primary" data-new onClick=${() => setNew(true)}>New key</button>`;
  return html`<${PageHead} title="Keys" actions=${create} />
    ${secret === null ? null : html`<${NewSecret} title=${`Secret of “${secret.name}”`} secret=${secret.key} note="Only its hash is stored." onClose=${() => setSecret(null)} />`}
    <${Loaded} data=${keys} rows=${6}>${({ items, projectsLeft }: ProjectItems<ApiKey>) => html`
      <${ProjectsLeft} count=${projectsLeft} />
      <${Card} label="Keys">${
        items.length === 0
          ? html`<${Empty} title="No keys yet">A key authorizes the requests of a project, organization or partner. Its secret is shown once.<//>`
          : html`<${Table} caption="Keys" fold=${true} head=${html`<th scope="col">Key</th><th scope="col">Type</th><th scope="col">Begins with</th><th scope="col">Scopes</th><th scope="col">Project</th><th scope="col" class="num">Last used</th><th scope="col" class="num"><span class="sr">Do</span></th>`}>
              ${items.map((key) => html`<${KeyRow} key=${key.id} apiKey=${key} isOwn=${key.id === me.apiKeyId} onOpen=${setOpened} />`)}
            <//>`
      }<//>`}<//>
    ${isNew ? html`<${NewKeyDialog} onClose=${() => setNew(false)} onMade=${setSecret} />` : null}
    ${opened?.dialog === 'rotate' ? html`<${RotateDialog} apiKey=${opened.key} onClose=${close} onMade=${setSecret} />` : null}
    ${
      opened?.dialog === 'revoke'
        ? html`<${ConfirmChange} title=${`Revoke ${opened.key.name}?`} request=${{ method: 'DELETE', path: `/v1/keys/${opened.key.id}` }}
      keepLabel="Keep it" doLabel="Revoke key" isDestructive=${true} onClose=${close} onDone=${() => toasts.show(`${opened.key.name} is revoked.`, 'It is refused on every node within a second.')}>
      <p class="muted">All requests with it are refused from then on. The keys that it created stay.</p><//>`
        : null
    }`;
}

function KeyRow({
  apiKey,
  isOwn,
  onOpen,
}: {
  apiKey: ApiKey;
  isOwn: boolean;
  onOpen: (opened: Opened) => void;
}): VNode {
  const names = useNames();
  const { name, keyType, prefix, scopes, projectId, lastUsedAt, expiresAt } = apiKey;
  return html`<tr>
    <th scope="row">${name} ${isOwn ? html`<${Badge}>this one<//>` : null}</th>
    <td>${keyType}</td>
    <td class="mono nowrap later">${prefix}…</td>
    <td class="wide muted">${scopes === null ? 'all of its type' : html`<span class="mono small">${scopes.join(' ')}</span>`}${expiresAt === null ? null : html` <span class="small">until <${Time} at=${expiresAt} /></span>`}</td>
    <td class="muted later">${names.ofProject(projectId)}</td>
    <td class="num faint later">${lastUsedAt === null ? 'never' : html`<${Time} at=${lastUsedAt} />`}</td>
    <td class="num later"><button type="button" class="btn quiet" aria-label=${`Rotate ${name}`} onClick=${() => onOpen({ dialog: 'rotate', key: apiKey })}>Rotate</button>
      <button type="button" class="btn quiet" aria-label=${`Revoke ${name}`} onClick=${() => onOpen({ dialog: 'revoke', key: apiKey })}>Revoke</button></td>
  </tr>`;
}

const typesBelow: Readonly<Record<string, ReadonlyArray<string>>> = {
  admin: ['project', 'organization', 'partner', 'admin'],
  partner: ['project', 'organization', 'partner'],
  organization: ['project', 'organization'],
  project: ['project'],
};

function NewKeyDialog({ onClose, onMade }: { onClose: () => void; onMade: (secret: Secret) => void }): VNode {
  const { api, me } = useSession();
  const names = useNames();
  const [name, setName] = useState('');
  const [keyType, setType] = useState('project');
  const [projectId, setProject] = useState(me.projectId);
  const [scopes, setScopes] = useState('');
  const save = async () => {
    const wanted = scopes.split(/[\s,]+/).filter((scope) => scope !== '');
    const made = await api.send<Secret>('POST', `/v1/projects/${projectId}/keys`, {
      name,
      keyType,
      ...(wanted.length === 0 ? {} : { scopes: wanted }),
    });
    onMade({ name, key: made.key });
    return true;
  };
  const types = (typesBelow[me.keyType] ?? []).map((value) => ({ value, text: value }));
  return html`<${FormDialog} title="New key" doLabel="Create key" onClose=${onClose} onSave=${save} fields=${['/name', '/scopes']}>
    ${(problemAt: (pointer: string) => string | null) => html`
      <${TextField} label="Name" value=${name} autofocus=${true} onText=${setName} problem=${problemAt('/name')} />
      <${SelectField} label="Type" value=${keyType} options=${types} onPick=${setType} />
      <${SelectField} label="Home project" value=${projectId} onPick=${setProject} options=${names.projects.map(({ id }) => ({ value: id, text: names.ofProject(id) }))} />
      <${TextField} label="Scopes" note="optional" mono=${true} value=${scopes} onText=${setScopes} problem=${problemAt('/scopes')} hint="Like flows:read gateway:write; empty for all of its type" />`}
  <//>`;
}

const overlaps = [
  { value: '0', text: 'ends immediately' },
  { value: '3600', text: 'works for 1 more hour' },
  { value: '86400', text: 'works for 24 more hours' },
];

function RotateDialog({
  apiKey,
  onClose,
  onMade,
}: {
  apiKey: ApiKey;
  onClose: () => void;
  onMade: (secret: Secret) => void;
}): VNode {
  const { api } = useSession();
  const [overlap, setOverlap] = useState('3600');
  const save = async () => {
    const made = await api.send<Secret>('POST', `/v1/keys/${apiKey.id}/rotate`, { overlapSeconds: Number(overlap) });
    onMade({ name: apiKey.name, key: made.key });
    return true;
  };
  return html`<${FormDialog} title=${`Rotate ${apiKey.name}`} doLabel="Rotate key" onClose=${onClose} onSave=${save}>
    <p class="muted">The key keeps its id and gets a new secret, shown once.</p>
    <${SelectField} label="The old secret" value=${overlap} options=${overlaps} onPick=${setOverlap} />
  <//>`;
}
