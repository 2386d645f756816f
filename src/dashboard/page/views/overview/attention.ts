import type { VNode } from 'preact';
import { addressOf } from '#dashboard/page/app/routing/router.ts';
import { type Children, html } from '#dashboard/page/html.ts';
import { Badge, Time, type Tone } from '#dashboard/page/parts/basics.ts';
import { useNames } from '#dashboard/page/parts/who.ts';
import { countOf, formatCount, formatDuration } from '#dashboard/page/text/numbers.ts';
import type { GatewayReport } from '#dashboard/page/views/gateway/gateway-report.ts';
import type { InstanceFigures } from '#dashboard/page/views/overview/overview-answers.ts';
import type { FollowersAnswer } from '#dashboard/page/views/projections/followers.ts';
import { reasonText, type WebhookEndpoint } from '#dashboard/page/views/webhooks/endpoint.ts';

interface Item {
  readonly key: string;
  readonly tone: Tone;
  readonly word: string;
  readonly text: Children;
  readonly action: string;
  readonly address: string;
}

interface AttentionProps {
  readonly followers: FollowersAnswer | null;
  readonly gateway: GatewayReport | null;
  readonly instances: InstanceFigures | null;
  /** The disabled endpoints; null also for a key that may not read endpoints. */
  readonly disabled: DisabledEndpoints | null;
}

/** The disabled endpoints that the key has access to. */
export interface DisabledEndpoints {
  readonly webhookEndpoints: ReadonlyArray<WebhookEndpoint>;
}

export const disabledEndpointsPath = '/v1/webhook-endpoints?status=disabled&sort=-createdAt';

const shownInstances = 5;
const shownEndpoints = 5;

/** Shows nothing if nothing needs attention. */
export function Attention(props: AttentionProps): VNode | null {
  const names = useNames();
  const items = [
    ...alteredHistory(props.followers),
    ...stoppedFollowers(props.followers),
    ...refusedKeys(props.gateway),
    ...openCircuits(props.gateway),
    ...instancesInNeed(props.instances, (id) => names.shown('organization', id)),
    ...endpointsInNeed(props.disabled),
  ];
  if (items.length === 0) return null;
  return html`<section aria-labelledby="need">
    <h2 id="need" class="sr">${items.length === 1 ? '1 thing needs attention' : `${items.length} things need attention`}</h2>
    <ul class="attention">${items.map(
      ({ key, tone, word, text, action, address }) =>
        html`<li key=${key}><${Badge} tone=${tone}>${word}<//><span>${text}</span><a class="btn" href=${address}>${action}</a></li>`,
    )}</ul>
  </section>`;
}

function alteredHistory(followers: FollowersAnswer | null): ReadonlyArray<Item> {
  const verification = followers?.verification ?? null;
  if (verification === null || verification.findingCount === 0) return [];
  const { time, findings, findingCount } = verification;
  const others = findingCount === 1 ? '' : ` And ${countOf(findingCount - 1, 'finding')} more.`;
  const text = html`The verification of the log (<${Time} at=${time} />) found that ${findings[0]}.${others}`;
  return [{ key: 'history', tone: 'bad', word: 'Altered', text, action: 'Open', address: addressOf('projections') }];
}

function stoppedFollowers(followers: FollowersAnswer | null): ReadonlyArray<Item> {
  if (followers === null) return [];
  return [...followers.projections, ...followers.processes].flatMap(({ name, state, failure, lagMs }) => {
    if (state !== 'stopped' || failure === null) return [];
    const behind = lagMs ? ` It is ${formatDuration(lagMs)} behind.` : '';
    const text = html`<strong>${name}</strong> stopped at position ${formatCount(failure.position)}, <code>${failure.eventType}</code>: ${failure.message}${behind}`;
    return [
      { key: name, tone: 'bad', word: 'Stopped', text, action: 'Open', address: addressOf('projections') } as const,
    ];
  });
}

function refusedKeys(gateway: GatewayReport | null): ReadonlyArray<Item> {
  return (gateway?.health?.targets ?? []).flatMap(({ target, isKeyRefused, lastFailure }) => {
    if (!isKeyRefused) return [];
    const since = lastFailure === null ? '' : html` (<${Time} at=${lastFailure.time} />)`;
    const text = html`The provider of <strong>${target}</strong> refuses the key of the gateway${since}. Check the variable that its <code>apiKeyEnv</code> names.`;
    return [
      {
        key: `key ${target}`,
        tone: 'bad',
        word: 'Key refused',
        text,
        action: 'Routes',
        address: addressOf('gateway'),
      } as const,
    ];
  });
}

function openCircuits(gateway: GatewayReport | null): ReadonlyArray<Item> {
  return (gateway?.health?.targets ?? []).flatMap(({ target, circuit, servesModels, lastFailure }) => {
    if (circuit !== 'open') return [];
    const since =
      lastFailure === null
        ? ''
        : html`, last failure <${Time} at=${lastFailure.time} /> (${lastFailure.status ?? lastFailure.code})`;
    const text = html`<strong>${target}</strong> gets no calls${since}. It serves ${servesModels.map((model, index) => html`${index === 0 ? '' : ', '}<code>${model}</code>`)}.`;
    return [
      {
        key: target,
        tone: 'warn',
        word: 'Circuit open',
        text,
        action: 'Routes',
        address: addressOf('gateway'),
      } as const,
    ];
  });
}

function instancesInNeed(
  figures: InstanceFigures | null,
  nameOf: (organizationId: string) => string,
): ReadonlyArray<Item> {
  if (figures === null) return [];
  const { instances, total } = figures.attention;
  const items = instances.slice(0, shownInstances).map(({ instanceId, organizationId, name, why, reason }): Item => {
    const text = html`<strong>${nameOf(organizationId)}</strong>, ${name}: ${reason ?? 'no reason was recorded'}`;
    return {
      key: instanceId,
      tone: 'bad',
      word: why === 'undone' ? 'Undone' : 'Failed',
      text,
      action: 'Preview',
      address: addressOf('templates', null, { instance: instanceId }),
    };
  });
  const left = total - items.length;
  if (left <= 0) return items;
  return [
    ...items,
    {
      key: 'more',
      tone: 'bad',
      word: 'More',
      text: html`${countOf(left, 'instance')} more did not reach the requested version.`,
      action: 'Templates',
      address: addressOf('templates'),
    },
  ];
}

/** The endpoints that the service has disabled. One that a request disabled needs no attention. */
function endpointsInNeed(disabled: DisabledEndpoints | null): ReadonlyArray<Item> {
  const all = (disabled?.webhookEndpoints ?? []).filter(({ disabledReason }) => disabledReason !== 'requested');
  const items = all.slice(0, shownEndpoints).map(
    ({ id, url, disabledReason }): Item => ({
      key: id,
      tone: 'warn',
      word: 'Disabled',
      text: html`<strong>${url}</strong> gets no webhooks: ${reasonText(disabledReason ?? '')}`,
      action: 'Open',
      address: addressOf('webhooks', id),
    }),
  );
  const left = all.length - items.length;
  if (left === 0) return items;
  return [
    ...items,
    {
      key: 'more endpoints',
      tone: 'warn',
      word: 'More',
      text: html`${countOf(left, 'webhook endpoint')} more ${left === 1 ? 'is' : 'are'} disabled.`,
      action: 'Webhooks',
      address: addressOf('webhooks'),
    },
  ];
}
