import type { VNode } from 'preact';
import type { Place } from '#dashboard/page/app/routing/router.ts';
import { html } from '#dashboard/page/html.ts';
import { AuditView } from '#dashboard/page/views/audit/audit-view.ts';
import { BatchesView } from '#dashboard/page/views/batches/batches-view.ts';
import { CallView } from '#dashboard/page/views/calls/call-view.ts';
import { CallsView } from '#dashboard/page/views/calls/calls-view.ts';
import { CustomerView } from '#dashboard/page/views/customers/customer-view.ts';
import { CustomersView } from '#dashboard/page/views/customers/customers-view.ts';
import { FilesView } from '#dashboard/page/views/files/files-view.ts';
import { FlowView } from '#dashboard/page/views/flows/flow-view.ts';
import { FlowsView } from '#dashboard/page/views/flows/flows-view.ts';
import { GatewayView } from '#dashboard/page/views/gateway/gateway-view.ts';
import { KeysView } from '#dashboard/page/views/keys/keys-view.ts';
import { ModelsView } from '#dashboard/page/views/models/models-view.ts';
import { PhoneNumbersView } from '#dashboard/page/views/numbers/phone-numbers-view.ts';
import { OverviewView } from '#dashboard/page/views/overview/overview-view.ts';
import { AgentProfilesView } from '#dashboard/page/views/profiles/agent-profiles-view.ts';
import { ProjectionsView } from '#dashboard/page/views/projections/projections-view.ts';
import { ProjectsView } from '#dashboard/page/views/projects/projects-view.ts';
import { ResponsesView } from '#dashboard/page/views/responses/responses-view.ts';
import { StoreView } from '#dashboard/page/views/stores/store-view.ts';
import { StoresView } from '#dashboard/page/views/stores/stores-view.ts';
import { TemplatesView } from '#dashboard/page/views/templates/templates-view.ts';
import { EndpointView } from '#dashboard/page/views/webhooks/endpoint-view.ts';
import { WebhooksView } from '#dashboard/page/views/webhooks/webhooks-view.ts';

export function ViewOf({ place }: { place: Place }): VNode {
  const { view, id, search } = place;
  switch (view) {
    case 'overview':
      return html`<${OverviewView} search=${search} />`;
    case 'flows':
      return id === null ? html`<${FlowsView} search=${search} />` : html`<${FlowView} id=${id} search=${search} />`;
    case 'templates':
      return html`<${TemplatesView} search=${search} />`;
    case 'gateway':
      return html`<${GatewayView} search=${search} />`;
    case 'calls':
      return id === null ? html`<${CallsView} search=${search} />` : html`<${CallView} id=${id} search=${search} />`;
    case 'models':
      return html`<${ModelsView} />`;
    case 'files':
      return html`<${FilesView} key=${search.get('purpose') ?? ''} search=${search} />`;
    case 'batches':
      return html`<${BatchesView} search=${search} />`;
    case 'stores':
      return id === null ? html`<${StoresView} search=${search} />` : html`<${StoreView} id=${id} />`;
    case 'responses':
      return html`<${ResponsesView} />`;
    case 'phone-numbers':
      return html`<${PhoneNumbersView} search=${search} />`;
    case 'agent-profiles':
      return html`<${AgentProfilesView} />`;
    case 'customers':
      return id === null ? html`<${CustomersView} />` : html`<${CustomerView} id=${id} />`;
    case 'audit':
      return html`<${AuditView} search=${search} />`;
    case 'projects':
      return html`<${ProjectsView} />`;
    case 'projections':
      return html`<${ProjectionsView} />`;
    case 'keys':
      return html`<${KeysView} search=${search} />`;
    case 'webhooks':
      return id === null ? html`<${WebhooksView} search=${search} />` : html`<${EndpointView} id=${id} />`;
  }
}
