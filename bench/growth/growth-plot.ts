import { writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { installPackages } from '#bench/install-packages.ts';

/** A line of a plot: a cost at each size. */
export interface PlotLine {
  readonly name: string;
  readonly values: ReadonlyArray<number>;
}

/** What is used of Apache ECharts, which draws on a server without a browser. @see https://echarts.apache.org/handbook/en/how-to/cross-platform/server */
interface Charts {
  init(
    element: null,
    theme: null,
    options: object,
  ): { setOption(option: object): void; renderToSVGString(): string; dispose(): void };
}

const size = { width: 860, height: 460 };

/**
 * Draws lines over sizes as an SVG file, on a logarithmic scale.
 * @param title also says what the lines mean
 */
export async function writePlot(
  file: string,
  title: string,
  sizes: ReadonlyArray<string>,
  lines: ReadonlyArray<PlotLine>,
): Promise<void> {
  const yardsticks = join(import.meta.dirname, '../yardsticks');
  installPackages(yardsticks, 'echarts');
  const require = createRequire(join(yardsticks, 'package.json'));
  const charts = require('echarts') as Charts;
  const chart = charts.init(null, null, { renderer: 'svg', ssr: true, ...size });
  chart.setOption({
    animation: false,
    backgroundColor: '#fff',
    title: { text: title, left: 'center', textStyle: { fontSize: 14 } },
    legend: { orient: 'vertical', right: 8, top: 'middle' },
    grid: { left: 60, right: 290, top: 48, bottom: 36 },
    xAxis: { type: 'category', data: sizes, boundaryGap: false },
    yAxis: { type: 'log', logBase: 2, min: 0.25, axisLabel: { formatter: '{value} ×' } },
    series: lines.map(({ name, values }) => ({ type: 'line', name, data: values })),
  });
  const svg = chart.renderToSVGString();
  chart.dispose();
  await writeFile(file, `${svg}\n`);
}
