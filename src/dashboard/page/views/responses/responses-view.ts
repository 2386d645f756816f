import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { useData } from '#dashboard/page/app/data/use-data.ts';
import { addressOf } from '#dashboard/page/app/routing/router.ts';
import { useSession } from '#dashboard/page/app/session/session.ts';
import { html } from '#dashboard/page/html.ts';
import { Time } from '#dashboard/page/parts/basics.ts';
import { Card, Empty, Loaded, PageHead } from '#dashboard/page/parts/boxes.ts';
import { Share } from '#dashboard/page/parts/charts/share.ts';
import { ConfirmChange } from '#dashboard/page/parts/dialogs/confirm-change.ts';
import { useNames } from '#dashboard/page/parts/who.ts';
import { formatFigure } from '#dashboard/page/text/numbers.ts';
import { formatBytes } from '#dashboard/page/views/files/file.ts';

/** The figures as the API answers them. */
interface StoredResponses {
  readonly count: number;
  readonly bytes: number;
  readonly oldestAt: string | null;
  readonly quotaBytes: number;
  readonly ttlDays: number;
}

const refreshMs = 15_000;

/** Shows how much is stored, and never what the conversations say. */
export function ResponsesView(): VNode {
  const { me, toasts } = useSession();
  const names = useNames();
  const [isErasing, setErasing] = useState(false);
  const path = `/v1/projects/${me.projectId}/responses`;
  const stored = useData<StoredResponses>(path, { kinds: ['project'], everyMs: refreshMs });
  const erase = html`<button type="button" class="btn danger" disabled=${stored.value?.count === 0} onClick=${() => setErasing(true)}>Erase all</button>`;
  return html`<${PageHead} title="Conversations" actions=${erase} facts=${[['Project', names.ofProject(me.projectId)]]} />
    <${Loaded} data=${stored} rows=${3}>${(value: StoredResponses) => (value.count === 0 ? html`<${NothingStored} />` : html`<${Amount} stored=${value} />`)}<//>
    ${
      isErasing
        ? html`<${ConfirmChange} title="Erase all stored conversations?" request=${{ method: 'DELETE', path }}
      keepLabel="Keep them" doLabel="Erase all" isDestructive=${true} onClose=${() => setErasing(false)} onDone=${() => {
        toasts.show('All stored conversations of the project are erased.');
        stored.reload();
      }}><${WhatStays} /><//>`
        : null
    }`;
}

function WhatStays(): VNode {
  return html`<p>Their key is destroyed, so that no copy can be read any more, and they are removed.</p>
    <p class="muted">These stay: the project’s files and batches, with what was said in them; the records of calls and the usage, which have nothing of what was said; copies of responses in the background, until their providers have deleted them; and what providers keep by their own terms.</p>`;
}

function NothingStored(): VNode {
  const playground = html`<a class="btn" href=${addressOf('gateway')}>Playground</a>`;
  return html`<${Card} label="Conversations"><${Empty} title="No conversations yet" actions=${playground}>A call of Responses is stored for this project, so that the next one can continue it on any model.<//><//>`;
}

function Amount({ stored }: { stored: StoredResponses }): VNode {
  const { count, bytes, oldestAt, quotaBytes, ttlDays } = stored;
  const part = Math.min(1, bytes / Math.max(1, quotaBytes));
  const percent = part > 0 && part < 0.01 ? 'less than 1%' : `${Math.round(part * 100)}%`;
  return html`<${Card} label="Conversations"><div class="body">
    <p><b class="figure">${formatFigure(count)}</b> stored ${count === 1 ? 'response' : 'responses'}</p>
    <${Share} big=${true} label=${`${percent} of ${formatBytes(quotaBytes)} is used`} all=${quotaBytes} parts=${[{ tone: 'tone-accent', value: bytes }, { tone: 'track', value: Math.max(0, quotaBytes - bytes) }]} />
    <p class="muted">${formatBytes(bytes)} of ${formatBytes(quotaBytes)}. Beyond that the oldest are removed.</p>
    ${oldestAt === null ? null : html`<p class="muted">The oldest was stored <${Time} at=${oldestAt} />. Each is kept for ${ttlDays} days.</p>`}
    <p class="muted">Their items are sealed with a key of this project, and only its keys can read them. Erasing them destroys that key.</p>
  </div><//>`;
}
