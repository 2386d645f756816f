import type { VNode } from 'preact';
import type { TargetStatus } from '#dashboard/page/api/records.ts';
import { useData } from '#dashboard/page/app/data/use-data.ts';
import { addressOf } from '#dashboard/page/app/routing/router.ts';
import { useSession } from '#dashboard/page/app/session/session.ts';
import { html } from '#dashboard/page/html.ts';
import { Badge } from '#dashboard/page/parts/basics.ts';
import { Card, Empty, Loaded, PageHead, Table } from '#dashboard/page/parts/boxes.ts';
import { healthOf } from '#dashboard/page/views/gateway/gateway-report.ts';

interface Price {
  readonly inputPerMillion?: number;
  readonly outputPerMillion?: number;
  readonly perMillionCharacters?: number;
  readonly perMinute?: number;
}

interface Model {
  readonly id: string;
  readonly owned_by: string;
  /** Only for keys of types that may see prices. */
  readonly pricing?: {
    readonly currency: string;
    readonly targets: ReadonlyArray<{ readonly target: string; readonly price: Price | null }>;
  };
}

const refreshMs = 10_000;

export function ModelsView(): VNode {
  const { me } = useSession();
  const models = useData<{ data: ReadonlyArray<Model> }>('/v1/models', { kinds: [] });
  const health = useData<{ targets: ReadonlyArray<TargetStatus> }>(
    me.keyType === 'admin' ? '/v1/gateway/targets' : null,
    { kinds: [], everyMs: refreshMs },
  );
  const healthByTarget = new Map((health.value?.targets ?? []).map((target) => [target.target, target]));
  const playground = html`<a class="btn" href=${addressOf('gateway')}>Playground</a>`;
  return html`<${PageHead} title="Models" actions=${playground} />
    <${Loaded} data=${models} rows=${5}>${({ data }: { data: ReadonlyArray<Model> }) =>
      html`<${Card} label="Models">${
        data.length === 0
          ? html`<${Empty} title="No models">The gateway’s configuration names its models.<//>`
          : html`<${Table} caption="Models" fold=${true} head=${html`<th scope="col">Model</th><th scope="col">Served by</th><th scope="col">Targets and prices</th><th scope="col" class="num"><span class="sr">Do</span></th>`}>
            ${data.map((model) => html`<${ModelRow} key=${model.id} model=${model} health=${healthByTarget} />`)}
          <//>`
      }<//>`}<//>`;
}

function ModelRow({ model, health }: { model: Model; health: ReadonlyMap<string, TargetStatus> }): VNode {
  const { id, owned_by, pricing } = model;
  return html`<tr>
    <th scope="row" class="mono">${id}</th>
    <td class="muted">${owned_by}</td>
    <td class="wide">${
      pricing === undefined
        ? html`<span class="faint">${id === 'auto' ? 'picks one of the others by its hint' : ''}</span>`
        : html`<ul>${pricing.targets.map(({ target, price }) => html`<li key=${target}><span class="mono small">${target}</span> <${Health} target=${health.get(target)} /> <span class="muted">${priceText(price, pricing.currency)}</span></li>`)}</ul>`
    }</td>
    <td class="num later end"><a href=${addressOf('calls', null, { model: id })} aria-label=${`Calls of ${id}`}>Calls</a></td>
  </tr>`;
}

function Health({ target }: { target: TargetStatus | undefined }): VNode | null {
  if (target === undefined) return null;
  const { word, tone } = healthOf(target);
  return html`<${Badge} tone=${tone} plain=${true}>${word}<//>`;
}

/** A price such as `USD 3 in, 9 out for a million tokens`. */
function priceText(price: Price | null, currency: string): string {
  if (price === null) return 'no price';
  const { inputPerMillion, outputPerMillion, perMillionCharacters, perMinute } = price;
  const parts = [
    ...(inputPerMillion || outputPerMillion
      ? [`${inputPerMillion ?? 0} in, ${outputPerMillion ?? 0} out for a million tokens`]
      : []),
    ...(perMillionCharacters === undefined ? [] : [`${perMillionCharacters} for a million characters`]),
    ...(perMinute === undefined ? [] : [`${perMinute} for a minute of audio`]),
  ];
  return parts.length === 0 ? 'free' : `${currency} ${parts.join('; ')}`;
}
