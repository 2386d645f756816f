import type { VNode } from 'preact';
import type { Data } from '#dashboard/page/app/data/use-data.ts';
import { addressOf } from '#dashboard/page/app/routing/router.ts';
import { html } from '#dashboard/page/html.ts';
import { Badge, type Tone } from '#dashboard/page/parts/basics.ts';
import { Card, Empty, Loaded, Table } from '#dashboard/page/parts/boxes.ts';
import { Share } from '#dashboard/page/parts/charts/share.ts';
import { useNames } from '#dashboard/page/parts/who.ts';
import { countOf, formatCount } from '#dashboard/page/text/numbers.ts';
import type { InstanceFigures } from '#dashboard/page/views/overview/overview-answers.ts';

const shownVersions = 8;

export function InstancesCard({ data }: { data: Data<InstanceFigures> }): VNode {
  const total = data.value?.totals.instances;
  return html`<${Card} id="instances" title="Instances" note=${total === undefined ? undefined : `${formatCount(total)}, by template version`} aside=${html`<a href=${addressOf('templates')}>Templates</a>`}>
    <${Loaded} data=${data} rows=${4}>${({ versions }: InstanceFigures) =>
      versions.length === 0
        ? html`<${Empty} title="No instances yet">Create instances from a published template version.<//>`
        : html`<${VersionTable} versions=${versions} />`}<//>
  <//>`;
}

function VersionTable({ versions }: Pick<InstanceFigures, 'versions'>): VNode {
  const names = useNames();
  const count = (value: number, tone: Tone) =>
    value === 0
      ? html`<span class="faint">0</span>`
      : html`<${Badge} tone=${tone} plain=${true}>${formatCount(value)}<//>`;
  return html`<${Table} caption="Instances by template version and state" head=${html`<th scope="col">Template version</th><th scope="col" class="num">Active</th><th scope="col" class="num">Provisioning</th><th scope="col" class="num">Failed</th>`}>
      ${versions.slice(0, shownVersions).map(
        ({
          templateId,
          templateVersionId,
          templateName,
          number,
          active,
          provisioning,
          failed,
        }) => html`<tr key=${templateVersionId}>
          <th scope="row"><a href=${addressOf('templates', null, { template: templateId })}>${templateName ?? names.shown('template', templateId)}</a> <span class="faint">v${number}</span></th>
          <td class="num">${active === 0 ? html`<span class="faint">0</span>` : formatCount(active)}</td><td class="num">${count(provisioning, 'run')}</td><td class="num">${count(failed, 'bad')}</td>
        </tr>`,
      )}
    <//>
    ${versions.length <= shownVersions ? null : html`<footer>${countOf(versions.length - shownVersions, 'version')} more</footer>`}`;
}

const outcomes = [
  { name: 'succeeded', tone: 'tone-1', key: 'k1' },
  { name: 'running', tone: 'tone-3', key: 'k3' },
  { name: 'undone', tone: 'tone-2', key: 'k2' },
  { name: 'failed', tone: 'tone-4', key: 'k4' },
  { name: 'superseded', tone: 'tone-5', key: 'k5' },
] as const;

/** Shows the upgrades of the last days, by outcome. */
export function UpgradesCard({ data }: { data: Data<InstanceFigures> }): VNode {
  return html`<${Card} id="upgrades" title="Upgrades" note=${data.value === null ? undefined : `${formatCount(sum(data.value.upgrades.requested))} in ${data.value.upgrades.requested.length} days`}>
    <${Loaded} data=${data} rows=${2}>${({ upgrades }: InstanceFigures) => {
      const parts = outcomes.map((outcome) => ({ ...outcome, value: upgrades[outcome.name] }));
      const known = parts.filter(({ value }) => value > 0);
      if (known.length === 0)
        return html`<${Empty} title="No upgrades in these days">An upgrade moves an instance to a newer published version.<//>`;
      return html`<div class="body">
        <${Share} big=${true} label=${`Upgrades: ${known.map(({ name, value }) => `${value} ${name}`).join(', ')}`} parts=${parts} />
        <ul class="legend">${known.map(({ name, key, value }) => html`<li key=${name}><span class=${`key block ${key}`}></span>${name} <b>${formatCount(value)}</b></li>`)}</ul>
      </div>`;
    }}<//>
  <//>`;
}

function sum(values: ReadonlyArray<number>): number {
  return values.reduce((total, value) => total + value, 0);
}
