import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { useData } from '#dashboard/page/app/data/use-data.ts';
import { addressOf } from '#dashboard/page/app/routing/router.ts';
import { useSession } from '#dashboard/page/app/session/session.ts';
import { html } from '#dashboard/page/html.ts';
import { Status, Time } from '#dashboard/page/parts/basics.ts';
import { Card, Empty, Loaded, PageHead, Table } from '#dashboard/page/parts/boxes.ts';
import { FormDialog } from '#dashboard/page/parts/dialogs/form-dialog.ts';
import { NewSecret } from '#dashboard/page/parts/dialogs/new-secret.ts';
import { useNewDialog } from '#dashboard/page/parts/dialogs/use-new-dialog.ts';
import { SelectField, TextField } from '#dashboard/page/parts/fields.ts';
import { useNames } from '#dashboard/page/parts/who.ts';
import { audienceText, type WebhookEndpoint } from '#dashboard/page/views/webhooks/endpoint.ts';
import { EventTypes } from '#dashboard/page/views/webhooks/event-types.ts';

export function WebhooksView({ search }: { search: URLSearchParams }): VNode {
  const [isNew, setNew] = useNewDialog(search);
  const [secret, setSecret] = useState<string | null>(null);
  const endpoints = useData<{ webhookEndpoints: ReadonlyArray<WebhookEndpoint> }>('/v1/webhook-endpoints', {
    everyMs: 15_000,
  });
  const create = html`<button type="button" class="btn primary" data-new onClick=${() => setNew(true)}>New endpoint</button>`;
  return html`<${PageHead} title="Webhooks" actions=${create} />
    ${secret === null ? null : html`<${NewSecret} title="Secret of the new endpoint" secret=${secret} note="Receivers check signatures with it." onClose=${() => setSecret(null)} />`}
    <${Loaded} data=${endpoints} rows=${4}>${({
      webhookEndpoints: all,
    }: {
      webhookEndpoints: ReadonlyArray<WebhookEndpoint>;
    }) =>
      html`<${Card} label="Webhook endpoints">${
        all.length === 0
          ? html`<${Empty} title="No webhook endpoints yet" actions=${create}>An endpoint is your URL that receives signed events as they happen. Failed messages are retried.<//>`
          : html`<${Table} caption="Webhook endpoints" fold=${true} head=${html`<th scope="col">Address</th><th scope="col">Status</th><th scope="col">Events</th><th scope="col">Description</th><th scope="col" class="num">Changed</th>`}>
            ${all.map(
              ({ id, url, status, disabledReason, eventTypes, description, updatedAt }) => html`<tr key=${id}>
                <th scope="row"><a href=${addressOf('webhooks', id)}>${url}</a></th>
                <td><${Status} status=${status} />${disabledReason === null ? null : html` <span class="small muted">${disabledReason}</span>`}</td>
                <td class="wide muted">${eventTypes.length === 0 ? 'all' : eventTypes.join(', ')}</td>
                <td class="muted later">${description}</td><td class="num faint later end"><${Time} at=${updatedAt} /></td>
              </tr>`,
            )}
          <//>`
      }<//>`}<//>
    ${
      isNew
        ? html`<${NewEndpointDialog} onClose=${() => setNew(false)} onMade=${(made: string | undefined) => {
            setSecret(made ?? null);
            endpoints.reload();
          }} />`
        : null
    }`;
}

function NewEndpointDialog({
  onClose,
  onMade,
}: {
  onClose: () => void;
  onMade: (secret: string | undefined) => void;
}): VNode {
  const { api, me } = useSession();
  const names = useNames();
  const [url, setUrl] = useState('');
  const [types, setTypes] = useState<ReadonlySet<string>>(new Set());
  const [projectId, setProject] = useState('');
  const [description, setDescription] = useState('');
  const save = async () => {
    const made = await api.send<{ secret?: string }>('POST', '/v1/webhook-endpoints', {
      url,
      eventTypes: [...types],
      ...(projectId === '' ? {} : { projectId }),
      ...(description === '' ? {} : { description }),
    });
    onMade(made.secret);
    return true;
  };
  return html`<${FormDialog} title="New webhook endpoint" doLabel="Create endpoint" onClose=${onClose} onSave=${save} fields=${['/url', '/description']}>
    ${(problemAt: (pointer: string) => string | null) => html`
      <${TextField} label="Address" type="url" value=${url} autofocus=${true} onText=${setUrl} placeholder="https://" problem=${problemAt('/url')} />
      <${SelectField} label="Events of" value=${projectId} onPick=${setProject} options=${[{ value: '', text: audienceText({ ...me, audience: me.keyType === 'admin' ? 'project' : me.keyType }, names) }, ...names.projects.map(({ id }) => ({ value: id, text: names.ofProject(id) }))]} />
      <${EventTypes} chosen=${types} onChoose=${setTypes} />
      <${TextField} label="Description" note="optional" value=${description} onText=${setDescription} problem=${problemAt('/description')} />`}
  <//>`;
}
