import type { VNode } from 'preact';
import { html } from '#dashboard/page/html.ts';

const sparkWidth = 96;
const sparkHeight = 20;

export function Spark({ values, label }: { values: ReadonlyArray<number>; label: string }): VNode {
  const top = Math.max(1, ...values);
  const step = sparkWidth / Math.max(1, values.length - 1);
  const points = values.map(
    (value, index) => `${round(index * step)} ${round(sparkHeight - 1 - (value / top) * (sparkHeight - 2))}`,
  );
  return html`<svg class="cell-spark" viewBox=${`0 0 ${sparkWidth} ${sparkHeight}`} preserveAspectRatio="none" role="img" aria-label=${label}>
    <path class="line k1" d=${`M${points.join('L')}`} />
  </svg>`;
}

const barsWidth = 240;
const barsHeight = 40;
const barPart = 0.72;

/** One bar for each day. @param top the value at the top */
export function Bars({ values, label, top }: { values: ReadonlyArray<number>; label: string; top: number }): VNode {
  const step = barsWidth / Math.max(1, values.length);
  const path = values
    .map((value, index) => `M${round(step * (index + 0.5))} ${barsHeight}v-${round((value / top) * barsHeight)}`)
    .join('');
  return html`<div class="chart low">
    <svg viewBox=${`0 0 ${barsWidth} ${barsHeight}`} preserveAspectRatio="none" role="img" aria-label=${label}>
      <path class="gridline" d=${`M0 0H${barsWidth}M0 ${barsHeight}H${barsWidth}`} />
      <path class="bars k1" stroke-width=${round(step * barPart)} d=${path} />
    </svg>
    <span class="top">${top}</span>
  </div>`;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
