import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { pollIntervalMs } from '#dashboard/page/api/live-feed-client.ts';
import { describeLive } from '#dashboard/page/api/live-feed-state.ts';
import { useNow, useSession } from '#dashboard/page/app/session/session.ts';
import { classes, html } from '#dashboard/page/html.ts';

const tickMs = 1_000;

/** A click pauses or resumes. Screen readers announce only a change of the word. */
export function LiveIndicator(): VNode {
  const { live } = useSession();
  const now = useNow(tickMs);
  const [, setCount] = useState(0);
  useEffect(() => live.onState(() => setCount((count) => count + 1)), [live]);
  const { tone, word, rest } = describeLive(live.state, now, pollIntervalMs);
  const toggle = () => (live.state.paused ? live.resume() : live.pause());
  return html`<button type="button" class="live-button" onClick=${toggle} title=${live.state.paused ? 'Resume' : 'Pause'}>
    <span class=${classes('live', tone)}><b role="status">${word}</b>${rest === '' ? null : html`<span class="rest">${rest}</span>`}</span>
  </button>`;
}
