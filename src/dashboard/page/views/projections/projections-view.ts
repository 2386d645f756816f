import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { useData } from '#dashboard/page/app/data/use-data.ts';
import { useSession } from '#dashboard/page/app/session/session.ts';
import { html } from '#dashboard/page/html.ts';
import { Status, Time } from '#dashboard/page/parts/basics.ts';
import { Card, Loaded, Notice, PageHead, Table } from '#dashboard/page/parts/boxes.ts';
import { Share } from '#dashboard/page/parts/charts/share.ts';
import { ConfirmChange } from '#dashboard/page/parts/dialogs/confirm-change.ts';
import { countOf, formatCount, formatDuration, noFigure } from '#dashboard/page/text/numbers.ts';
import type { Follower, FollowersAnswer, Rebuild } from '#dashboard/page/views/projections/followers.ts';

const refreshMs = 2_000;

interface Asked {
  readonly kind: 'projections' | 'processes';
  readonly follower: Follower;
  readonly action: 'rebuild' | 'retry' | 'skip';
}

/** Shows for a stopped one the event and the reason, and for a waiting one what it waits for. */
export function ProjectionsView(): VNode {
  const [asked, setAsked] = useState<Asked | null>(null);
  const followers = useData<FollowersAnswer>('/v1/dashboard/projections', {
    kinds: ['projection', 'process'],
    everyMs: refreshMs,
  });
  return html`<${PageHead} title="Read models" facts=${followers.value === null ? [] : [['Log ends at', formatCount(followers.value.logEnd)]]} />
    <${Loaded} data=${followers} rows=${8}>${({
      projections,
      processes,
      unknownEvents,
      verification,
    }: FollowersAnswer) => html`
      <${Verified} verification=${verification} />
      <${Stopped} all=${[...projections, ...processes]} />
      <${Incomplete} all=${projections} />
      <${Card} id="projections" title="Read models" note="they follow the log, and queries read them">
        <${FollowerTable} caption="Read models" followers=${projections} onAsk=${(follower: Follower, action: Asked['action']) => setAsked({ kind: 'projections', follower, action })} />
        ${projections.flatMap((each) => (each.rebuild ? [html`<${RebuildProgress} key=${each.name} name=${each.name} version=${each.version} rebuild=${each.rebuild} />`] : []))}
      <//>
      <${Card} id="processes" title="Processes" note="they act on events; the position is the last event that they have handled">
        <${FollowerTable} caption="Processes" followers=${processes} onAsk=${(follower: Follower, action: Asked['action']) => setAsked({ kind: 'processes', follower, action })} />
      <//>
      ${unknownEvents.map(({ type, count, lastPosition }) => html`<${Notice} key=${type} tone="warn">This release does not know <code>${type}</code>: ${countOf(count, 'event')} skipped, the last at position ${formatCount(lastPosition)}. A newer release wrote them.<//>`)}`}<//>
    ${asked === null ? null : html`<${AskDialog} asked=${asked} onClose=${() => setAsked(null)} onDone=${followers.reload} />`}`;
}

function Verified({ verification }: Pick<FollowersAnswer, 'verification'>): VNode | null {
  if (verification === null) return null;
  const { time, events, findings, findingCount } = verification;
  if (findingCount === 0)
    return html`<p class="faint">The log was verified against its signed digests <${Time} at=${time} />: ${countOf(events, 'event')}, nothing found.</p>`;
  return html`<${Notice} tone="bad"><strong>The log is not as its signed digests were made of.</strong> Verified <${Time} at=${time} />, ${countOf(findingCount, 'finding')}:
    <ul>${findings.map((finding) => html`<li key=${finding}>${finding}</li>`)}</ul>
    Run <code>npm run events -- verify --digests</code>; <code>docs/audit.md</code> says what to do next.<//>`;
}

function Stopped({ all }: { all: ReadonlyArray<Follower> }): VNode {
  return html`${all.flatMap(({ name, state, failure }) =>
    state === 'stopped' && failure !== null
      ? [
          html`<${Notice} key=${name} tone="bad"><strong>${name}</strong> stopped at position ${formatCount(failure.position)}, <code>${failure.eventType}</code>: ${failure.message}<//>`,
        ]
      : [],
  )}`;
}

/** Shows the projections that were built from streams that lack events. */
function Incomplete({ all }: { all: ReadonlyArray<Follower> }): VNode {
  return html`${all.flatMap(({ name, incompleteStreams: found }) =>
    found === undefined || found.count === 0
      ? []
      : [
          html`<${Notice} key=${name} tone="bad"><strong>${name}</strong> was built from ${found.isExact ? '' : 'at least '}${countOf(found.count, 'stream')} without all events: <code>${found.first.map(({ stream }) => stream).join(', ')}</code><//>`,
        ],
  )}`;
}

interface TableProps {
  readonly caption: string;
  readonly followers: ReadonlyArray<Follower>;
  readonly onAsk: (follower: Follower, action: Asked['action']) => void;
}

function FollowerTable({ caption, followers, onAsk }: TableProps): VNode {
  const hasVersions = followers.some(({ version }) => version !== undefined);
  const sorted = [...followers].sort(
    (one, other) => Number(other.state !== 'running') - Number(one.state !== 'running'),
  );
  return html`<${Table} caption=${caption} fold=${true} head=${html`<th scope="col">${hasVersions ? 'Read model' : 'Process'}</th><th scope="col">State</th>${hasVersions ? html`<th scope="col" class="num">Version</th>` : null}<th scope="col" class="num">Position</th>${hasVersions ? html`<th scope="col" class="num">Lag</th>` : null}<th scope="col" class="num"><span class="sr">Do</span></th>`}>
    ${sorted.map((each) => {
      const { name, state, version, position, lag, lagMs, failure, waitingFor } = each;
      const ask = (action: Asked['action'], className: string, text: string) =>
        html`<button type="button" class=${className} aria-label=${`${text} ${name}`} onClick=${() => onAsk(each, action)}>${text}</button> `;
      return html`<tr key=${name}>
        <th scope="row" class="mono">${name}</th><td><${Status} status=${state} />${state === 'waiting' && waitingFor ? html` <span class="faint">for ${waitingFor}</span>` : null}</td>
        ${hasVersions ? html`<td class="num faint" data-l="version">${version}</td>` : null}
        <td class="num" data-l="position">${formatCount(position)}</td>
        ${hasVersions ? html`<td class="num" data-l="lag">${state === 'rebuilding' || lag === null ? html`<span class="faint">${noFigure}</span>` : lag === 0 ? '0' : `${countOf(lag, 'event')}${lagMs ? `, ${formatDuration(lagMs)}` : ''}`}</td>` : null}
        <td class="num">${state === 'stopped' && failure !== null ? html`${ask('retry', 'btn', 'Retry')}${ask('skip', 'btn danger', 'Skip event')}` : hasVersions ? ask('rebuild', 'btn quiet', 'Rebuild') : ''}</td>
      </tr>`;
    })}
  <//>`;
}

function RebuildProgress({
  name,
  version,
  rebuild,
}: {
  name: string;
  version: number | undefined;
  rebuild: Rebuild;
}): VNode {
  const { position, target, eventsPerSecond, secondsLeft } = rebuild;
  const part = rebuild.part ?? (target === 0 ? 0 : position / target);
  const percent = Math.round(part * 100);
  return html`<div class="body rule">
    <p class="row"><strong class="mono">${name}</strong> <span>is being rebuilt; the current one answers until the new one is complete${version === undefined ? '' : `: version ${version}`}</span></p>
    <${Share} big=${true} label=${`Rebuild ${percent}%`} all=${100} parts=${[{ tone: 'tone-accent', value: percent }, { tone: 'track', value: 100 - percent }]} />
    <p class="stats"><span><b>${percent}%</b> ${formatCount(position)} of ${formatCount(target)}</span><span><b>${formatCount(eventsPerSecond)}</b> events/s</span>${secondsLeft === null ? null : html`<span>done in <b>${formatDuration(secondsLeft * 1_000)}</b></span>`}</p>
  </div>`;
}

const labels = { rebuild: 'Rebuild', retry: 'Retry', skip: 'Skip the event' } as const;
const words = {
  rebuild: 'A new read model is filled from the whole log. Queries use the current one until the new one is complete.',
  retry: 'It retries the event at which it stopped.',
  skip: 'It leaves the event out, now and in every rebuild.',
} as const;

function AskDialog({ asked, onClose, onDone }: { asked: Asked; onClose: () => void; onDone: () => void }): VNode {
  const { toasts } = useSession();
  const { kind, follower, action } = asked;
  const body = action === 'skip' ? { eventId: follower.failure?.eventId } : {};
  return html`<${ConfirmChange} title=${`${labels[action]}: ${follower.name}?`} request=${{ method: 'POST', path: `/v1/${kind}/${follower.name}/${action}`, body }}
    keepLabel="Leave it" doLabel=${labels[action]} isDestructive=${action === 'skip'} onClose=${onClose} onDone=${() => {
      toasts.show(`${follower.name}: requested.`);
      onDone();
    }}><p class="muted">${words[action]}</p><//>`;
}
