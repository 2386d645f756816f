import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { addressOf } from '#dashboard/page/app/routing/router.ts';
import { classes, html } from '#dashboard/page/html.ts';
import { Time } from '#dashboard/page/parts/basics.ts';
import { Card } from '#dashboard/page/parts/boxes.ts';
import { ActorName } from '#dashboard/page/parts/who.ts';
import { type Branch, branchesOf, type Station } from '#dashboard/page/views/flows/timeline.ts';

interface TimelineProps {
  readonly flowId: string;
  readonly stations: ReadonlyArray<Station>;
  readonly chosen: string | null;
  readonly asOf: string | null;
  readonly onRestore: ((station: Station) => void) | null;
}

const shownAtFirst = 30;
const shownWhenNarrow = 4;

/** Shows the versions. A restored one is a branch that joins the line again. */
export function VersionTimeline(props: TimelineProps): VNode {
  const { stations } = props;
  const isNarrow = matchMedia('(max-width: 45rem)').matches;
  const [limit, setLimit] = useState(isNarrow ? shownWhenNarrow : shownAtFirst);
  const deleted = stations.filter(({ deletedAt }) => deletedAt !== null).length;
  const branches = branchesOf(stations);
  const left = stations.length - limit;
  return html`<${Card} id="versions" title="Versions" aside=${html`<span class="small faint">${stations.length - deleted} kept${deleted === 0 ? '' : `, ${deleted} deleted`}</span>`}>
    <ol class="versions">
      ${stations
        .slice(0, limit)
        .map(
          (station, index) =>
            html`<${VersionItem} key=${station.id} ...${props} station=${station} branch=${branches[index]} isFirst=${index === 0} isLast=${index === stations.length - 1} />`,
        )}
    </ol>
    ${left <= 0 ? null : html`<footer><button type="button" class="btn quiet" onClick=${() => setLimit(stations.length)}>All ${stations.length} versions</button></footer>`}
  <//>`;
}

interface ItemProps extends TimelineProps {
  readonly station: Station;
  readonly branch: Branch;
  readonly isFirst: boolean;
  readonly isLast: boolean;
}

function VersionItem({ station, branch, isFirst, isLast, flowId, chosen, asOf, onRestore }: ItemProps): VNode {
  const { id, number, tag, isActive, deletedAt } = station;
  const isChosen = id === chosen;
  const line = html`<svg class="branch" viewBox="0 0 36 64" preserveAspectRatio="none" aria-hidden="true">
      <path d=${`M12 ${isFirst ? 18 : 0}V${isLast ? 18 : 64}`} />
      ${branch.passes ? html`<path class="restored" d="M30 0V64" />` : null}
      ${branch.starts ? html`<path class="restored" d="M30 64V42L12 20" />` : null}
      ${branch.ends ? html`<path class="restored" d="M12 18L30 6V0" />` : null}
    </svg>
    <span class="station"></span>`;
  if (deletedAt !== null) {
    return html`<li class="is-deleted">${line}<span class="v">${number} deleted<br /><small class="small"><${Time} at=${deletedAt} /></small></span></li>`;
  }
  const canRestore = onRestore !== null && !isActive && !isChosen;
  return html`<li class=${classes(isActive && 'is-active', isChosen && 'is-chosen', canRestore && 'has-act')}>
    ${line}
    <a class="v" href=${addressOf('flows', flowId, { version: id, asOf: asOf ?? '' })} aria-current=${isChosen ? 'true' : undefined}>
      <b>${number}</b><span class="clip">${tag}</span>
      ${isActive ? html`<span class="badge solid">Active</span>` : isChosen ? html`<span class="badge">compared</span>` : html`<span></span>`}
      <small>
        <${Time} at=${station.createdAt} />, <${ActorName} actor=${station.createdBy} />
        ${station.restoredFrom === null ? null : html`<br />copied from version ${station.restoredFrom}`}
        ${isActive && station.activeSince !== null ? html`<br />since <${Time} at=${station.activeSince} />` : null}
      </small>
    </a>
    ${canRestore ? html`<button type="button" class="btn quiet act" aria-label=${`Restore version ${number}`} onClick=${() => onRestore(station)}>Restore</button>` : null}
  </li>`;
}
