import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { Tagged } from '#dashboard/page/api/api.ts';
import { toApiError } from '#dashboard/page/api/api-error.ts';
import { useData } from '#dashboard/page/app/data/use-data.ts';
import { goTo } from '#dashboard/page/app/routing/location.ts';
import { useSession } from '#dashboard/page/app/session/session.ts';
import { html } from '#dashboard/page/html.ts';
import { Badge, Copy, More, Status, Time } from '#dashboard/page/parts/basics.ts';
import { Card, Empty, Loaded, Notice, PageHead, Table } from '#dashboard/page/parts/boxes.ts';
import { ConfirmChange } from '#dashboard/page/parts/dialogs/confirm-change.ts';
import { FormDialog } from '#dashboard/page/parts/dialogs/form-dialog.ts';
import { NewSecret } from '#dashboard/page/parts/dialogs/new-secret.ts';
import { TextField } from '#dashboard/page/parts/fields.ts';
import { useNames } from '#dashboard/page/parts/who.ts';
import { formatCount, formatMs } from '#dashboard/page/text/numbers.ts';
import {
  audienceText,
  type Delivery,
  reasonText,
  type WebhookEndpoint,
} from '#dashboard/page/views/webhooks/endpoint.ts';

const refreshMs = 5_000;

type Opened = 'delete' | 'replay' | 'enable' | 'disable' | null;

export function EndpointView({ id }: { id: string }): VNode {
  const { api } = useSession();
  const path = `/v1/webhook-endpoints/${id}`;
  const endpoint = useData<Tagged<WebhookEndpoint>>(`${path} with its ETag`, { everyMs: refreshMs }, (signal) =>
    api.getTagged(path, signal),
  );
  return html`<${Loaded} data=${endpoint} rows=${5}>${({ value, etag }: Tagged<WebhookEndpoint>) => html`<${EndpointPage} endpoint=${value} etag=${etag} onChanged=${endpoint.reload} />`}<//>`;
}

function EndpointPage({
  endpoint,
  etag,
  onChanged,
}: {
  endpoint: WebhookEndpoint;
  etag: string | null;
  onChanged: () => void;
}): VNode {
  const { api, toasts } = useSession();
  const names = useNames();
  const [opened, setOpened] = useState<Opened>(null);
  const [secret, setSecret] = useState<string | null>(null);
  const path = `/v1/webhook-endpoints/${endpoint.id}`;
  const { delivery = null } = endpoint;
  const close = () => setOpened(null);
  const attempt = async (what: string, run: () => Promise<unknown>) => {
    try {
      await run();
    } catch (error) {
      toasts.showError(`${what} failed.`, toApiError(error).message);
    }
  };
  const test = () =>
    attempt('The test', async () => {
      await api.send('POST', `${path}/test`, {});
      toasts.show('A test message is being sent.', 'The deliveries below show the result.');
    });
  const rotate = () =>
    attempt('The rotation', async () =>
      setSecret((await api.send<{ secret?: string }>('POST', `${path}/rotate-secret`, {})).secret ?? null),
    );
  const isEnabled = endpoint.status === 'enabled';
  const actions = html`<button type="button" class="btn" onClick=${test}>Send a test</button>
    <button type="button" class="btn" onClick=${rotate}>Rotate secret</button>
    <button type="button" class="btn" onClick=${() => setOpened('replay')}>Replay</button>
    <button type="button" class=${isEnabled ? 'btn' : 'btn primary'} onClick=${() => setOpened(isEnabled ? 'disable' : 'enable')}>${isEnabled ? 'Disable' : 'Enable'}</button>
    <${More} label="More for this endpoint"><button type="button" class="btn danger" onClick=${() => setOpened('delete')}>Delete</button><//>`;
  const facts = [
    ['Events', endpoint.eventTypes.length === 0 ? 'all' : endpoint.eventTypes.join(', ')],
    ['Of', audienceText(endpoint, names)],
    ...(delivery === null
      ? []
      : [
          ['Delivered up to', formatCount(delivery.position)],
          ['Open messages', formatCount(delivery.openMessages)],
        ]),
    ['Id', html`<${Copy} text=${endpoint.id} label="id" />`],
  ];
  return html`<${PageHead} title=${html`${endpoint.url} <${Status} status=${endpoint.status} />`} actions=${actions} facts=${facts} />
    ${endpoint.disabledReason === null ? null : html`<${Notice} tone="warn">It is disabled: ${reasonText(endpoint.disabledReason)}. If you enable it, delivery continues where it stopped.<//>`}
    ${isEnabled && delivery?.failingSince ? html`<${Notice} tone="bad">Every try has failed since <${Time} at=${delivery.failingSince} />. It is disabled if every try fails for three days.<//>` : null}
    ${delivery?.beganAtEndAt ? html`<${Notice} tone="warn">The position of the delivery was lost, so delivery began at the end of the log at <${Time} at=${delivery.beganAtEndAt} />. A replay sends the missing events.<//>` : null}
    ${secret === null ? null : html`<${NewSecret} title="New secret" secret=${secret} note="Both secrets sign for 24 hours." onClose=${() => setSecret(null)} />`}
    <${Deliveries} id=${endpoint.id} />
    ${opened === 'delete' ? html`<${ConfirmChange} title="Delete the endpoint?" request=${{ method: 'DELETE', path, seen: { path, etag } }} keepLabel="Keep it" doLabel="Delete endpoint" isDestructive=${true} onClose=${close} onDone=${() => goTo('webhooks')} />` : null}
    ${
      opened === 'enable' || opened === 'disable'
        ? html`<${ConfirmChange} title=${opened === 'enable' ? 'Enable the endpoint?' : 'Disable the endpoint?'} request=${{ method: 'PATCH', path, body: { status: opened === 'enable' ? 'enabled' : 'disabled' }, seen: { path, etag } }}
      keepLabel="Leave it" doLabel=${opened === 'enable' ? 'Enable' : 'Disable'} onClose=${close} onDone=${onChanged} />`
        : null
    }
    ${opened === 'replay' ? html`<${ReplayDialog} path=${path} position=${delivery?.position ?? 0} onClose=${close} />` : null}`;
}

function ReplayDialog({ path, position, onClose }: { path: string; position: number; onClose: () => void }): VNode {
  const { api, toasts } = useSession();
  const [after, setAfter] = useState(String(position));
  const save = async () => {
    await api.send('POST', `${path}/replay`, { after: Number(after) });
    toasts.show(`Everything after position ${formatCount(Number(after))} is sent again.`);
    return true;
  };
  return html`<${FormDialog} title="Replay" doLabel="Send again" onClose=${onClose} onSave=${save} fields=${['/after']}>
    ${(problemAt: (pointer: string) => string | null) => html`<${TextField} label="After position" inputMode="numeric" value=${after} onText=${setAfter} problem=${problemAt('/after')} hint="0 is the beginning of the log. A message that was sent before has the same webhook-id." />`}
  <//>`;
}

const tones = { delivered: 'ok', failed: 'warn', 'given-up': 'bad' } as const;

function Deliveries({ id }: { id: string }): VNode {
  const deliveries = useData<{ deliveries: ReadonlyArray<Delivery> }>(
    `/v1/webhook-endpoints/${id}/deliveries?limit=50`,
    { everyMs: refreshMs },
  );
  return html`<${Card} id="deliveries" title="Deliveries" note="the last 50 tries; bodies are not kept">
    <${Loaded} data=${deliveries}>${({ deliveries: all }: { deliveries: ReadonlyArray<Delivery> }) =>
      all.length === 0
        ? html`<${Empty} title="Nothing was sent yet">Send a test, or wait for an event of its types.<//>`
        : html`<${Table} caption="Deliveries" fold=${true} head=${html`<th scope="col">Ended</th><th scope="col">Outcome</th><th scope="col">Event</th><th scope="col" class="num">Position</th><th scope="col" class="num">Try</th><th scope="col">Answer</th><th scope="col" class="num">ms</th>`}>
            ${all.map(
              (each) => html`<tr key=${`${each.messageId} ${each.attempt} ${each.time}`}>
                <td class="faint nowrap"><${Time} at=${each.time} /></td>
                <td><${Badge} tone=${tones[each.outcome as keyof typeof tones] ?? 'idle'}>${each.outcome}<//></td>
                <td class="mono wide">${each.type}</td>
                <td class="num later" data-l="position">${formatCount(each.position)}</td><td class="num later end" data-l="try">${each.attempt}</td>
                <td class="later">${each.status ?? ''} ${each.error === null ? '' : html`<span class="muted">${each.error}</span>`}</td><td class="num later end" data-l="ms">${formatMs(each.durationMs)}</td>
              </tr>`,
            )}
          <//>`}<//>
  <//>`;
}
