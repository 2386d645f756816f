import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { onThemeChange } from '#dashboard/page/app/theme.ts';
import { html } from '#dashboard/page/html.ts';

/** A curve, in which null values are gaps. */
export interface Curve {
  readonly values: ReadonlyArray<number | null>;
  /** A CSS variable: `--series-1`. */
  readonly colour: string;
  /** Set for the curve of the time before, which is dotted and grey. */
  readonly isBefore?: boolean;
}

/** A time that a chart marks. In ms. */
export interface Band {
  readonly from: number;
  readonly until: number;
}

export interface ChartProps {
  /** Describes the chart to assistive technology. */
  readonly label: string;
  /** In ms. */
  readonly times: ReadonlyArray<number>;
  readonly curves: ReadonlyArray<Curve>;
  readonly bands?: ReadonlyArray<Band>;
  /** The value at the top; zero is at the bottom. */
  readonly top: number;
  readonly topLabel: string;
  /** Charts of one row share their crosshair. */
  readonly row: string;
  /** The index under the pointer; null for none. */
  readonly onPoint?: (index: number | null) => void;
}

const height = 72;
const areaOpacity = 0.12;
const leastBandPx = 3;

/** The plot is on a canvas, and all texts are outside of it. */
export function LineChart(props: ChartProps): VNode {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const shape = `${props.curves.map(({ colour, isBefore }) => `${colour}${isBefore}`).join()} ${props.row}`;

  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const draw = () => {
      plot.current?.destroy();
      plot.current = new uPlot(optionsOf(latest, element.clientWidth), dataOf(latest.current), element);
    };
    draw();
    const resized = new ResizeObserver(() => plot.current?.setSize({ width: element.clientWidth, height }));
    resized.observe(element);
    const endTheme = onThemeChange(draw);
    return () => {
      endTheme();
      resized.disconnect();
      plot.current?.destroy();
      plot.current = null;
    };
  }, [shape]);
  useEffect(() => plot.current?.setData(dataOf(props)), [props.times, props.curves, props.bands, props.top]);

  return html`<div class="chart"><div class="plot" role="img" aria-label=${props.label} ref=${box}></div><span class="top">${props.topLabel}</span></div>`;
}

function dataOf({ times, curves }: ChartProps): uPlot.AlignedData {
  return [times.map((time) => time / 1_000), ...curves.map(({ values }) => [...values])] as uPlot.AlignedData;
}

function optionsOf(latest: { readonly current: ChartProps }, width: number): uPlot.Options {
  const { curves, row } = latest.current;
  const own = curves.filter(({ isBefore }) => !isBefore);
  return {
    width: Math.max(1, width),
    height,
    padding: [2, 2, 2, 0],
    legend: { show: false },
    axes: [{ show: false }, { show: false }],
    scales: { x: { time: true }, y: { range: () => [0, latest.current.top] } },
    cursor: { y: false, drag: { x: false, y: false }, points: { show: false }, sync: { key: row } },
    series: [
      {},
      ...curves.map(({ colour, isBefore }) => {
        const stroke = resolved(isBefore ? '--series-5' : colour);
        const isArea = own.length === 1 && !isBefore;
        return {
          stroke,
          width: isBefore ? 1 : 1.5,
          points: { show: true, size: 4, width: 0, fill: stroke, filter: lonePoints },
          spanGaps: false,
          ...(isBefore ? { dash: [2, 3] } : {}),
          ...(isArea ? { fill: withOpacity(stroke) } : {}),
        };
      }),
    ],
    hooks: {
      drawClear: [(plot) => drawBands(plot, latest.current.bands ?? []), drawGrid],
      setCursor: [({ cursor }) => latest.current.onPoint?.(cursor.idx ?? null)],
    },
  };
}

/** Points without neighbours, which no line shows. */
function lonePoints({ data }: uPlot, series: number): number[] {
  const values = data[series] ?? [];
  return [...values.keys()].filter(
    (index) => values[index] != null && values[index - 1] == null && values[index + 1] == null,
  );
}

/** Draws the bands in the background. Even a very short time is visible. */
function drawBands(plot: uPlot, bands: ReadonlyArray<Band>): void {
  const { ctx, bbox } = plot;
  const right = bbox.left + bbox.width;
  const placeOf = (time: number) => Math.min(right, Math.max(bbox.left, plot.valToPos(time / 1_000, 'x', true)));
  ctx.save();
  ctx.fillStyle = resolved('--chart-band');
  for (const { from, until } of bands) {
    const width = Math.max(leastBandPx * devicePixelRatio, placeOf(until) - placeOf(from));
    ctx.fillRect(Math.min(placeOf(from), right - width), bbox.top, width, bbox.height);
  }
  ctx.restore();
}

function drawGrid({ ctx, bbox }: uPlot): void {
  ctx.save();
  ctx.strokeStyle = resolved('--chart-grid');
  ctx.lineWidth = devicePixelRatio;
  for (const part of [0, 0.5, 1]) {
    const y = Math.round(bbox.top + bbox.height * part) + 0.5;
    ctx.beginPath();
    ctx.moveTo(bbox.left, y);
    ctx.lineTo(bbox.left + bbox.width, y);
    ctx.stroke();
  }
  ctx.restore();
}

function resolved(variable: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(variable);
}

function withOpacity(colour: string): string {
  return colour.replace(
    /^rgba?\(([^)]+)\)$/,
    (_, channels: string) => `rgb(${channels.replaceAll(',', ' ')} / ${areaOpacity})`,
  );
}
