import type { VNode } from 'preact';
import type { RecordedAttempt } from '#dashboard/page/api/records.ts';
import { classes, html } from '#dashboard/page/html.ts';
import { Badge } from '#dashboard/page/parts/basics.ts';
import { countOf, formatDuration } from '#dashboard/page/text/numbers.ts';
import { outcomeTone } from '#dashboard/page/views/calls/outcomes.ts';

const width = 200;
const barHeight = 6;
const rowHeight = 8;
const minWidth = 2;

interface AttemptBarsProps {
  readonly attempts: ReadonlyArray<RecordedAttempt>;
  readonly totalMs: number;
  /** Shows the bars alone, for a row of a table. */
  readonly isSmall?: boolean;
}

export function AttemptBars({ attempts, totalMs, isSmall = false }: AttemptBarsProps): VNode {
  if (attempts.length === 0) return html`<span class="faint">none</span>`;
  const label = `${countOf(attempts.length, 'attempt')}: ${attempts.map((attempt) => `${nameOf(attempt)} ${wordsOf(attempt)}`).join('; ')}`;
  if (isSmall) return html`<${Bars} attempts=${attempts} totalMs=${totalMs} label=${label} />`;
  return html`<ol class="attempts">${attempts.map(
    (attempt, index) => html`<li key=${index}>
      <span class="clip">${nameOf(attempt)}</span>
      <${Bars} attempts=${[attempt]} totalMs=${totalMs} label=${`${nameOf(attempt)} ${wordsOf(attempt)}`} />
      <span><${Badge} tone=${outcomeTone(attempt.result)}>${attempt.result}<//> <span class="muted">${detailsOf(attempt)}</span></span>
    </li>`,
  )}</ol>`;
}

function Bars({ attempts, totalMs, label }: AttemptBarsProps & { readonly label: string }): VNode {
  const end = Math.max(totalMs, ...attempts.map(({ startMs, durationMs }) => startMs + durationMs), 1);
  const height = attempts.length * rowHeight;
  return html`<svg class="attempt-bars" viewBox=${`0 0 ${width} ${height}`} height=${height} preserveAspectRatio="none" role="img" aria-label=${label}>
    ${attempts.map(({ startMs, durationMs, result }, index) => {
      const wide = Math.max(minWidth, (durationMs / end) * width);
      const x = Math.min(width - wide, (startMs / end) * width);
      return html`<rect key=${index} class=${classes(`is-${outcomeTone(result)}`)} x=${x} y=${index * rowHeight + 1} width=${wide} height=${barHeight} />`;
    })}
  </svg>`;
}

function nameOf({ target, targetNumber }: RecordedAttempt): string {
  return target ?? `target ${targetNumber}`;
}

function wordsOf({ result, status, reason, durationMs }: RecordedAttempt): string {
  const why = [status, reason].filter((part) => part !== null).join(' ');
  return `${result}${result === 'served' || why === '' ? '' : ` (${why})`} after ${formatDuration(durationMs)}`;
}

function detailsOf({ status, reason, startMs, durationMs }: RecordedAttempt): string {
  const parts = [
    status === null ? null : String(status),
    reason,
    `from ${formatDuration(startMs)}, for ${formatDuration(durationMs)}`,
  ];
  return parts.filter((part) => part !== null).join(', ');
}
