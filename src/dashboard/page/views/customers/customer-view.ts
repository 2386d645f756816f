import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { Customer, Flow, Instance, PhoneNumber, Project } from '#dashboard/page/api/records.ts';
import { type ProjectItems, useFlows, useInstances, usePhoneNumbers } from '#dashboard/page/app/data/lists.ts';
import { useData } from '#dashboard/page/app/data/use-data.ts';
import { addressOf } from '#dashboard/page/app/routing/router.ts';
import { useSession } from '#dashboard/page/app/session/session.ts';
import { html } from '#dashboard/page/html.ts';
import { Badge, Copy, Status, Time } from '#dashboard/page/parts/basics.ts';
import { Card, Empty, Loaded, PageHead } from '#dashboard/page/parts/boxes.ts';
import { ConfirmChange } from '#dashboard/page/parts/dialogs/confirm-change.ts';
import { useNames } from '#dashboard/page/parts/who.ts';
import { formatCount, formatMoney } from '#dashboard/page/text/numbers.ts';
import { useUsageByProject } from '#dashboard/page/views/customers/customer-usage.ts';

export function CustomerView({ id }: { id: string }): VNode {
  const customer = useData<Customer>(`/v1/partner/customers/${id}`, { kinds: ['customer', 'organization'] });
  return html`<${Loaded} data=${customer} rows=${6}>${(known: Customer) => html`<${CustomerPage} customer=${known} />`}<//>`;
}

function CustomerPage({ customer }: { customer: Customer }): VNode {
  const [isErasing, setErasing] = useState(false);
  const { toasts } = useSession();
  const names = useNames();
  const projects: ReadonlyArray<Project> = names.projects.filter(
    ({ organizationId }) => organizationId === customer.organizationId,
  );
  const instances = useInstances();
  const flows = useFlows(projects);
  const numbers = usePhoneNumbers(projects);
  const { day, month } = useUsageByProject();
  const used = day?.get(customer.projectId);
  const facts = [
    ['E-mail', customer.clientEmail ?? (customer.personalDataErasedAt === null ? '–' : 'erased')],
    ['Customer since', html`<${Time} at=${customer.createdAt} />`],
    ['Id', html`<${Copy} text=${customer.organizationId} label="id" />`],
    ...(day === null
      ? []
      : [
          ['Calls, 24 h', formatCount(used?.calls ?? 0)],
          ['Errors', formatCount(used?.errors ?? 0)],
          ['Cost, 30 d', formatMoney(month?.get(customer.projectId)?.cost)],
        ]),
  ];
  const actions =
    customer.personalDataErasedAt === null
      ? html`<button type="button" class="btn danger" onClick=${() => setErasing(true)}>Erase personal data</button>`
      : undefined;
  return html`<${PageHead} title=${customer.name} facts=${facts} actions=${actions} />
    <div class="grid half">
      <${Card} id="instances" title="Instances"><${Loaded} data=${instances}>${({ items }: { items: ReadonlyArray<Instance> }) => html`<${InstanceItems} instances=${items.filter(({ organizationId }) => organizationId === customer.organizationId)} />`}<//><//>
      <${Card} id="numbers" title="Phone numbers"><${Loaded} data=${numbers}>${({
        items,
      }: ProjectItems<PhoneNumber>) =>
        items.length === 0
          ? html`<${Empty} title="No phone numbers">Add one under Phone numbers and choose a flow for it.<//>`
          : html`<ul class="changes numbers">${items.map(({ id, number, flowId }) => html`<li key=${id}><span class="nowrap">${number}</span><span>${flowId === null ? html`<span class="faint">no flow</span>` : html`<a href=${addressOf('flows', flowId)}>${names.shown('flow', flowId)}</a>`}</span></li>`)}</ul>`}<//><//>
      <${Card} id="flows" title="Flows"><${Loaded} data=${flows}>${({ items }: ProjectItems<Flow>) =>
        items.length === 0
          ? html`<${Empty} title="No flows">An instance of a template creates flows.<//>`
          : html`<ul class="changes">${items.map(({ id, name, type }) => html`<li key=${id}><span><${Badge}>${type}<//></span><span><a href=${addressOf('flows', id)}>${name}</a></span></li>`)}</ul>`}<//><//>
    </div>
    ${
      isErasing
        ? html`<${ConfirmChange} title=${`Erase the personal data of ${customer.name}?`} request=${{ method: 'DELETE', path: `/v1/partner/customers/${customer.organizationId}/personal-data` }}
      keepLabel="Keep it" doLabel="Erase permanently" isDestructive=${true} onClose=${() => setErasing(false)} onDone=${() => toasts.show('The personal data is erased.')}>
      <p class="muted">The key of the data is destroyed. Nothing can read the data again, not even in a backup of the log.</p><//>`
        : null
    }`;
}

function InstanceItems({ instances }: { instances: ReadonlyArray<Instance> }): VNode {
  if (instances.length === 0)
    return html`<${Empty} title="No instance">Create one from a published template version.<//>`;
  return html`<ul class="changes">${instances.map(
    ({ id, name, status, lastOperation }) => html`<li key=${id}><span><${Status} status=${status} /></span>
      <span><a href=${addressOf('templates', null, { instance: id })}>${name}</a>${lastOperation?.outcome === 'undone' ? html` <${Badge} tone="bad" plain=${true}>${lastOperation.kind} undone<//>` : null}</span></li>`,
  )}</ul>`;
}
