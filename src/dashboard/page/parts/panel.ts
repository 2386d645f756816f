import type { VNode } from 'preact';
import { type Children, classes, html } from '#dashboard/page/html.ts';
import { type Band, type Curve, LineChart } from '#dashboard/page/parts/charts/line-chart.ts';
import { type Figure, roundTop } from '#dashboard/page/text/numbers.ts';
import { formatAxisTime, formatTime } from '#dashboard/page/text/times.ts';

/** What the panels of a row share. */
export interface PanelRow {
  readonly name: string;
  /** In ms. */
  readonly times: ReadonlyArray<number>;
  /** The index under the pointer in any of the panels; null for none. */
  readonly at: number | null;
  readonly onPoint: (index: number | null) => void;
  /** Times that all panels mark. */
  readonly bands?: ReadonlyArray<Band>;
}

interface PanelProps {
  readonly title: Children;
  readonly figure: Figure;
  readonly delta?: Children;
  readonly deltaTone?: 'bad' | 'warn' | undefined;
  /** Shows a value of the first curve. */
  readonly format: (value: number | null) => Figure;
  readonly curves: ReadonlyArray<Curve>;
  readonly label: string;
  readonly row: PanelRow;
  readonly legend?: Children;
  /** What would fill the chart; null if it has data. Default null. */
  readonly empty?: string | null;
}

const dayMs = 86_400_000;
const axisLabels = 5;

/**
 * A figure with its curve and a comparison. While the user points at the chart, the figure is that of the crosshair.
 */
export function Panel(props: PanelProps): VNode {
  const { row, curves, format, delta, deltaTone } = props;
  const pointed = row.at === null ? null : (row.times[row.at] ?? null);
  const { value, unit } = pointed === null ? props.figure : format(curves[0]?.values[row.at ?? 0] ?? null);
  const highest = Math.max(0, ...curves.flatMap(({ values }) => values.map((each) => each ?? 0)));
  const top = roundTop(highest);
  const topFigure = format(top);
  return html`<section class="panel">
    <h3>${props.title}</h3>
    <p class="figure"><b>${value}${unit === '' ? null : html`<small> ${unit}</small>`}</b>
      <span class=${classes('delta', pointed === null && deltaTone && `is-${deltaTone}`)}>${pointed === null ? delta : formatTime(pointed, Date.now())}</span></p>
    ${props.empty ? html`<p class="muted small">${props.empty}</p>` : html`<${LineChart} label=${props.label} times=${row.times} curves=${curves} bands=${row.bands} top=${top} topLabel=${`${topFigure.value}${topFigure.unit === '' ? '' : ` ${topFigure.unit}`}`} row=${row.name} onPoint=${row.onPoint} />`}
    <div hidden=${Boolean(props.empty)}><${Axis} times=${row.times} />${props.legend === undefined ? null : html`<ul class="legend">${props.legend}</ul>`}</div>
  </section>`;
}

/** The axis has five times. The last one is now. */
export function Axis({ times }: { times: ReadonlyArray<number> }): VNode {
  const first = times[0] ?? 0;
  const last = times.at(-1) ?? 0;
  const spansDays = last - first > 2 * dayMs;
  const labels = Array.from({ length: axisLabels }, (_, index) => {
    if (index === axisLabels - 1) return 'now';
    return formatAxisTime(times[Math.round((index / (axisLabels - 1)) * (times.length - 1))] ?? first, spansDays);
  });
  return html`<div class="axis" aria-hidden="true">${labels.map((label, index) => html`<span key=${index}>${label}</span>`)}</div>`;
}
