import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

/** One of several things that are measured against each other. */
export interface Contestant {
  readonly name: string;
  /** Runs one round and returns its figure. */
  readonly round: () => Promise<number>;
}

/**
 * Runs the contestants in turn, round after round, so that other load on the machine affects all of them. The first
 * round is a warm-up and does not count.
 * @returns the median figure of each, by name
 */
export async function interleaved(
  contestants: ReadonlyArray<Contestant>,
  rounds: number,
): Promise<ReadonlyMap<string, number>> {
  const figures = await interleavedRounds(contestants, rounds);
  return new Map([...figures].map(([name, values]) => [name, median(values)]));
}

/** Like `inTurn`, but returns the figures of every counted round in order. */
export async function interleavedRounds(
  contestants: ReadonlyArray<Contestant>,
  rounds: number,
): Promise<ReadonlyMap<string, ReadonlyArray<number>>> {
  const figures = new Map<string, number[]>(contestants.map(({ name }) => [name, []]));
  for (let round = 0; round <= rounds; round += 1)
    for (const { name, round: run } of contestants) {
      const figure = await run();
      if (round > 0) figures.get(name)?.push(figure);
    }
  return figures;
}

/** Returns the middle value, or the mean of the middle two; NaN without values. */
export function median(values: ReadonlyArray<number>): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/**
 * Keeps a number of calls in flight for a time.
 * @param call makes one call for worker `worker`; workers are numbered from 0
 * @returns finished calls per second
 */
export async function callsPerSecond(
  inFlight: number,
  milliseconds: number,
  call: (worker: number) => Promise<void>,
): Promise<number> {
  const started = performance.now();
  const end = started + milliseconds;
  let finished = 0;
  const runWorker = async (worker: number) => {
    while (performance.now() < end) {
      await call(worker);
      finished += 1;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, (_, worker) => runWorker(worker)));
  return (finished / (performance.now() - started)) * 1_000;
}

/** Returns the 99th percentile of the event loop's delay in milliseconds while work runs. */
export async function eventLoopDelayP99(run: () => Promise<unknown>): Promise<number> {
  const delays = monitorEventLoopDelay({ resolution: 1 });
  delays.enable();
  await run();
  delays.disable();
  return delays.percentile(99) / 1e6;
}

/** Returns the same percentile while nothing runs: the delay of the timer itself. */
export function idleEventLoopDelayP99(milliseconds: number): Promise<number> {
  return eventLoopDelayP99(() => sleep(milliseconds));
}

/** Returns the parts of a benchmark that its arguments name, or all without arguments. @throws Error for an unknown name */
export function chosenParts<Part>(parts: Readonly<Record<string, Part>>, args: ReadonlyArray<string>): Part[] {
  const unknown = args.find((name) => !(name in parts));
  if (unknown !== undefined) throw new Error(`There is no ${unknown}: there are ${Object.keys(parts).join(', ')}.`);
  return Object.entries(parts).flatMap(([name, part]) => (args.length === 0 || args.includes(name) ? [part] : []));
}

/** A figure with its bounds. */
export interface Result {
  readonly what: string;
  readonly figure: number;
  /** The text after the figure: ` ×`, ` ms`, ` events/s`. */
  readonly unit: string;
  /** The required bound and the aim. Smaller figures are better when the aim is smaller than the required bound. */
  readonly required: number;
  readonly aim: number;
}

/** Prints results as a table, each with its bounds and whether they hold. */
export function printResults(results: ReadonlyArray<Result>): void {
  const rows = results.map(({ what, figure, unit, required, aim }) => [
    what,
    format(figure) + unit,
    (aim < required ? 'at most ' : 'at least ') + format(required),
    format(aim),
    verdict(figure, required, aim),
  ]);
  printTable(['', 'measured', 'must be', 'aim', ''], rows);
}

/** Prints rows in aligned columns. All columns but the first are aligned to the right. */
export function printTable(heads: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): void {
  const widths = heads.map((head, column) => Math.max(head.length, ...rows.map((row) => row[column]?.length ?? 0)));
  for (const row of [heads, ...rows]) {
    const cells = row.map((cell, column) => {
      const width = widths[column] ?? 0;
      return column === 0 ? cell.padEnd(width) : cell.padStart(width);
    });
    print(cells.join('  ').trimEnd());
  }
}

/** Prints a line. */
export function print(line = ''): void {
  process.stdout.write(`${line}\n`);
}

/** Formats a figure with three significant digits and separated thousands. */
export function format(figure: number): string {
  return figure.toLocaleString('en', { maximumSignificantDigits: 3 });
}

function verdict(figure: number, required: number, aim: number): string {
  const reaches = (bound: number) => (aim < required ? figure <= bound : figure >= bound);
  if (reaches(aim)) return 'aim reached';
  return reaches(required) ? 'holds' : 'FALLS SHORT';
}
