import { join } from 'node:path';
import { type Costs, type DataSize, measureCosts } from './growth/growth-figures.ts';
import { writePlot } from './growth/growth-plot.ts';
import { format, print, printTable } from './measure.ts';

/** The sizes of data along one axis, from the smallest to the largest. */
interface Axis {
  readonly title: string;
  readonly file: string;
  readonly sizes: ReadonlyArray<DataSize>;
  readonly nameOf: (size: DataSize) => string;
}

const plots = join(import.meta.dirname, '../docs');
const projects = 500;
const events = 300_000;
/** How many sizes are measured, by the word for it; three without a word. */
const extents: Readonly<Record<string, number>> = { quick: 2, full: 4 };
/** How many times as much anything may cost at the largest size as at the smallest. */
const maxGrowth = 1.5;

/**
 * Measures what commands, queries, lists, a start, memory and a rebuild cost as the log and the number of projects grow, and
 * writes a plot of each into `docs/`. `npm run bench -- growth full` adds 10,000,000 events, `quick` omits the largest sizes
 * and writes no plot. `growth events` and `growth projects` measure only one of the two.
 */
export default async function growth(args: ReadonlyArray<string>): Promise<void> {
  const extent = args.find((word) => word in extents);
  const wanted = args.filter((word) => !(word in extents));
  for (const axis of axesOf(extent)) {
    if (wanted.length > 0 && !wanted.some((word) => axis.file.includes(word))) continue;
    const costs = await measureCosts(axis.sizes);
    print();
    print(axis.title);
    printCosts(axis, costs);
    if (extent !== 'quick') await plot(axis, costs);
  }
}

function axesOf(extent: string | undefined): ReadonlyArray<Axis> {
  const ofEvents = [10_000, 100_000, 1_000_000, 10_000_000];
  const ofProjects = [10, 1_000, 100_000];
  const largest = extents[extent ?? ''] ?? 3;
  return [
    {
      title: `Costs by the number of events, in ${format(projects)} projects`,
      file: 'growth-events.svg',
      sizes: ofEvents.slice(0, largest).map((count) => ({ events: count, projects })),
      nameOf: (size) => `${format(size.events)} events`,
    },
    {
      title: `Costs by the number of projects, in ${format(events)} events`,
      file: 'growth-projects.svg',
      sizes: ofProjects.slice(0, largest).map((count) => ({ events, projects: count })),
      nameOf: (size) => `${format(size.projects)} projects`,
    },
  ];
}

function printCosts({ sizes, nameOf }: Axis, costs: ReadonlyArray<Costs>): void {
  const rows = namesOf(costs).map((name) => {
    const values = valuesOf(costs, name);
    const ratio = growthOf(values).at(-1) ?? Number.NaN;
    return [name, ...values.map(format), `${format(ratio)} ×`, ratio <= maxGrowth ? 'holds' : 'FALLS SHORT'];
  });
  printTable(['', ...sizes.map(nameOf), 'last of first', `at most ${maxGrowth} ×`], rows);
}

async function plot({ title, file, sizes, nameOf }: Axis, costs: ReadonlyArray<Costs>): Promise<void> {
  const lines = namesOf(costs).map((name) => ({ name, values: growthOf(valuesOf(costs, name)) }));
  await writePlot(join(plots, file), `${title}, relative to the first`, sizes.map(nameOf), lines);
  print(`Drawn in docs/${file}`);
}

function namesOf(costs: ReadonlyArray<Costs>): ReadonlyArray<string> {
  return [...(costs[0]?.keys() ?? [])];
}

function valuesOf(costs: ReadonlyArray<Costs>, name: string): ReadonlyArray<number> {
  return costs.map((cost) => cost.get(name) ?? Number.NaN);
}

/** Returns each value relative to the first. */
function growthOf(values: ReadonlyArray<number>): ReadonlyArray<number> {
  return values.map((value) => value / (values[0] ?? Number.NaN));
}
