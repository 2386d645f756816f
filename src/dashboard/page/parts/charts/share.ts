import type { VNode } from 'preact';
import { classes, html } from '#dashboard/page/html.ts';

/** A part of a whole, in the colour of its class. */
export interface SharePart {
  readonly tone: string;
  readonly value: number;
}

const width = 200;
const height = 8;
const gap = 1.5;

/** @param all default the sum of the parts */
export function Share(props: { label: string; parts: ReadonlyArray<SharePart>; all?: number; big?: boolean }): VNode {
  const { label, parts, big = false } = props;
  const all = props.all ?? parts.reduce((sum, { value }) => sum + value, 0);
  let at = 0;
  return html`<svg class=${classes('share', big && 'big')} viewBox=${`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img" aria-label=${label}>
    ${parts
      .filter(({ value }) => value > 0)
      .map(({ tone, value }, index) => {
        const x = at;
        const wide = all === 0 ? 0 : (value / all) * width;
        at += wide;
        return html`<g key=${index}><rect class=${tone} x=${x} width=${wide} height=${height} />
          ${at >= width - gap ? null : html`<rect class="gap" x=${at - gap / 2} width=${gap} height=${height} />`}</g>`;
      })}
  </svg>`;
}
