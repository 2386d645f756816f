import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { toApiError } from '#dashboard/page/api/api-error.ts';
import type { Customer, Instance } from '#dashboard/page/api/records.ts';
import { useInstances } from '#dashboard/page/app/data/lists.ts';
import { useData } from '#dashboard/page/app/data/use-data.ts';
import { addressOf } from '#dashboard/page/app/routing/router.ts';
import { useSession } from '#dashboard/page/app/session/session.ts';
import { html } from '#dashboard/page/html.ts';
import { Badge } from '#dashboard/page/parts/basics.ts';
import { Card, Empty, Loaded, PageHead, Table } from '#dashboard/page/parts/boxes.ts';
import { FormDialog } from '#dashboard/page/parts/dialogs/form-dialog.ts';
import { TextField } from '#dashboard/page/parts/fields.ts';
import { useNames } from '#dashboard/page/parts/who.ts';
import { formatCount, formatMoney } from '#dashboard/page/text/numbers.ts';
import { type UsageByProject, useUsageByProject } from '#dashboard/page/views/customers/customer-usage.ts';

export function CustomersView(): VNode {
  const [isNew, setNew] = useState(false);
  const customers = useData<{ customers: ReadonlyArray<Customer> }>('/v1/partner/customers', {
    kinds: ['customer', 'organization'],
  });
  const create = html`<button type="button" class="btn primary" data-new onClick=${() => setNew(true)}>New customer</button>`;
  return html`<${PageHead} title="Customers" actions=${create} />
    <${Loaded} data=${customers} rows=${6}>${({ customers: all }: { customers: ReadonlyArray<Customer> }) =>
      all.length === 0
        ? html`<${Card} label="Customers"><${Empty} title="No customers yet" actions=${html`<button type="button" class="btn primary" onClick=${() => setNew(true)}>New customer</button>`}>
            A customer is a separate organization with one project. You see it; other partners do not.<//><//>`
        : html`<${CustomerList} customers=${all} />`}<//>
    ${isNew ? html`<${NewCustomerDialog} onClose=${() => setNew(false)} onMade=${customers.reload} />` : null}`;
}

function CustomerList({ customers }: { customers: ReadonlyArray<Customer> }): VNode {
  const instances = useInstances().value?.items ?? [];
  const { day, month } = useUsageByProject();
  const ofCustomer = (customer: Customer) =>
    instances.filter(({ organizationId }) => organizationId === customer.organizationId);
  const sorted = [...customers].sort(
    (one, other) => Number(needsCare(ofCustomer(other))) - Number(needsCare(ofCustomer(one))),
  );
  return html`<${Card} label="Customers">
    <${Table} caption="Customers" fold=${true} head=${html`<th scope="col">Customer</th><th scope="col">State</th><th scope="col">Instance and version</th><th scope="col" class="num">Calls, 24 h</th><th scope="col" class="num">Errors</th><th scope="col" class="num">Cost, 30 d</th>`}>
      ${sorted.map((customer) => html`<${CustomerRow} key=${customer.organizationId} customer=${customer} instances=${ofCustomer(customer)} day=${day} month=${month} />`)}
    <//>
  <//>`;
}

/** True if an instance has failed, or its last change was undone. */
export function needsCare(instances: ReadonlyArray<Instance>): boolean {
  return instances.some(({ status, lastOperation }) => status === 'failed' || lastOperation?.outcome === 'undone');
}

interface RowProps {
  readonly customer: Customer;
  readonly instances: ReadonlyArray<Instance>;
  readonly day: UsageByProject;
  readonly month: UsageByProject;
}

function CustomerRow({ customer, instances, day, month }: RowProps): VNode {
  const names = useNames();
  const state = instances.some(({ status }) => status === 'provisioning') ? 'provisioning' : 'active';
  const today = day?.get(customer.projectId);
  const cost = month?.get(customer.projectId)?.cost;
  return html`<tr>
    <th scope="row"><a href=${addressOf('customers', customer.organizationId)}>${customer.name}</a></th>
    <td>${instances.length === 0 ? html`<${Badge} tone="idle">no instance<//>` : needsCare(instances) ? html`<${Badge} tone="warn">needs attention<//>` : html`<${Badge} tone=${state === 'active' ? 'ok' : 'run'}>${state}<//>`}</td>
    <td class="wide">${instances.map(
      (instance, index) =>
        html`${index === 0 ? '' : ', '}<a href=${addressOf('templates', null, { instance: instance.id })}>${instance.name}</a> <span class="muted">${names.of('template', instance.templateId) ?? ''}${instance.lastOperation?.outcome === 'undone' ? `, ${instance.lastOperation.kind} undone` : ''}</span>`,
    )}</td>
    <td class="num later" data-l="calls">${day === null ? '–' : formatCount(today?.calls ?? 0)}</td>
    <td class="num later end" data-l="errors">${day === null ? '–' : formatCount(today?.errors ?? 0)}</td>
    <td class="num later" data-l="cost, 30 d">${month === null ? '–' : formatMoney(cost ?? null)}</td>
  </tr>`;
}

function NewCustomerDialog({ onClose, onMade }: { onClose: () => void; onMade: () => void }): VNode {
  const { api, names, me, toasts } = useSession();
  const [name, setName] = useState('');
  const [clientEmail, setEmail] = useState('');
  const save = async () => {
    await api.send('POST', '/v1/partner/customers', { name, clientEmail });
    await names.load(me).catch((error) => toasts.showError('The lists are not up to date.', toApiError(error).message));
    onMade();
    return true;
  };
  return html`<${FormDialog} title="New customer" doLabel="Create customer" onClose=${onClose} onSave=${save} fields=${['/name', '/clientEmail']}>
    ${(problemAt: (pointer: string) => string | null) => html`
      <${TextField} label="Name" value=${name} autofocus=${true} onText=${setName} problem=${problemAt('/name')} />
      <${TextField} label="E-mail" type="email" value=${clientEmail} onText=${setEmail} problem=${problemAt('/clientEmail')} />`}
  <//>`;
}
