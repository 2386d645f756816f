import { createContext, type VNode } from 'preact';
import { useContext } from 'preact/hooks';
import type { OrganizationFilter } from '#dashboard/page/app/session/scope.ts';
import { useSession } from '#dashboard/page/app/session/session.ts';
import { html } from '#dashboard/page/html.ts';
import { Icon } from '#dashboard/page/parts/basics.ts';
import { useNames } from '#dashboard/page/parts/who.ts';

export interface ScopeChoice {
  readonly scope: OrganizationFilter;
  readonly choose: (scope: OrganizationFilter) => void;
}

export const ScopeContext = createContext<ScopeChoice>({ scope: { organizationId: null }, choose: () => undefined });

/** The organization to which the page is limited. */
export function useScope(): ScopeChoice {
  return useContext(ScopeContext);
}

/** The menu of organizations. A transparent native select covers it, so that the browser's own menu opens. */
export function ScopeMenu(): VNode {
  const { me } = useSession();
  const names = useNames();
  const { scope, choose } = useScope();
  const ids = [...new Set(names.projects.map(({ organizationId }) => organizationId))];
  const all =
    me.keyType === 'admin' ? 'All organizations' : me.keyType === 'partner' ? 'All customers' : 'All projects';
  const shown = scope.organizationId === null ? all : names.shown('organization', scope.organizationId);
  const key = names.of('key', me.apiKeyId);
  return html`<div class="scope">
    <span class="clip">${shown}</span>
    <small class="clip">${me.keyType} key${key === null ? '' : ` “${key}”`}</small>
    <${Icon} name="pick" />
    <select aria-label="Organization shown" value=${scope.organizationId ?? ''} onChange=${(event: Event) => {
      const { value } = event.target as HTMLSelectElement;
      choose({ organizationId: value === '' ? null : value });
    }}>
      <option value="">${all}</option>
      ${ids.length < 2 ? null : ids.map((id) => html`<option key=${id} value=${id}>${names.shown('organization', id)}</option>`)}
    </select>
  </div>`;
}
