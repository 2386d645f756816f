import { stringify } from 'csv-stringify/sync';
import { addByName, noUsage, type UsageSums } from '#domain/usage/usage-total.ts';
import type { TextStream } from '#exchange/client.ts';
import { turn, workOfTurn } from '#exchange/turns.ts';
import type { UsageDocument } from '#projections/usage/usage-by-period.ts';
import { currentWorkOwner } from '#shared/async/fair-queue.ts';
import { type Grouping, rowGroupOf, type UsageRowGroup } from './group-by.ts';
import { figuresOf, type UsageRow, usageFigures } from './usage-answer.ts';

/** The rows in the order of time, then by calls (most first), then by name. */
export class UsageRows {
  readonly #groupBy: ReadonlyArray<Grouping>;
  /** The sums by the text of their group. */
  readonly #rows = new Map<string, UsageSums>();

  constructor(groupBy: ReadonlyArray<Grouping>) {
    this.#groupBy = groupBy;
  }

  get size(): number {
    return this.#rows.size;
  }

  add(document: UsageDocument): void {
    addByName(this.#rows, JSON.stringify(rowGroupOf(this.#groupBy, document)), document.sums);
  }

  /**
   * Each piece takes milliseconds, and has a turn of the event loop of its own. Without a grouping there is always one
   * row, even if there are no calls.
   */
  async *pieces(): AsyncGenerator<ReadonlyArray<UsageRow>, void, void> {
    if (this.#groupBy.length === 0 && this.size === 0) {
      yield [figuresOf(noUsage)];
      return;
    }
    const rows = mergeSorted(await this.#sortedRuns());
    for (;;) {
      await turn(currentWorkOwner(), 'list', workOfTurn);
      const piece = nextOf(rows, rowsPerPiece).map(({ group, sums }) => ({ ...group, ...figuresOf(sums) }));
      if (piece.length === 0) return;
      yield piece;
    }
  }

  /** All rows, for an answer with few of them. */
  async rows(): Promise<ReadonlyArray<UsageRow>> {
    const rows: UsageRow[] = [];
    for await (const piece of this.pieces()) rows.push(...piece);
    return rows;
  }

  /** The sorted rows in runs, because a sort of all rows would take one long turn. */
  async #sortedRuns(): Promise<ReadonlyArray<ReadonlyArray<NamedRow>>> {
    const runs: ReadonlyArray<NamedRow>[] = [];
    const entries = this.#rows.entries();
    for (;;) {
      await turn(currentWorkOwner(), 'list', workOfTurn);
      const run = nextOf(entries, rowsPerRun).map(([name, sums]) => namedRow(name, sums));
      if (run.length === 0) return runs;
      runs.push(run.toSorted(compareRows));
    }
  }
}

/** None at the end. */
function nextOf<Item>(items: Iterator<Item, unknown>, count: number): ReadonlyArray<Item> {
  const taken: Item[] = [];
  while (taken.length < count) {
    const { value, done } = items.next();
    if (done) break;
    taken.push(value);
  }
  return taken;
}

/** A row, with what decides its place. */
interface NamedRow {
  readonly name: string;
  readonly time: string;
  readonly group: UsageRowGroup;
  readonly sums: UsageSums;
}

function namedRow(name: string, sums: UsageSums): NamedRow {
  const group: UsageRowGroup = JSON.parse(name);
  return { name, time: timeOf(group), group, sums };
}

function compareRows(one: NamedRow, other: NamedRow): number {
  if (one.time !== other.time) return one.time < other.time ? -1 : 1;
  return other.sums.calls - one.sums.calls || (one.name < other.name ? -1 : 1);
}

/** Merges sorted runs and makes one row when it is requested. */
function* mergeSorted(runs: ReadonlyArray<ReadonlyArray<NamedRow>>): Generator<NamedRow, void, void> {
  const places = runs.map(() => 0);
  for (;;) {
    let first: { readonly row: NamedRow; readonly run: number } | null = null;
    for (const [run, rows] of runs.entries()) {
      const row = rows[places[run] ?? 0];
      if (row !== undefined && (first === null || compareRows(row, first.row) < 0)) first = { row, run };
    }
    if (first === null) return;
    places[first.run] = (places[first.run] ?? 0) + 1;
    yield first.row;
  }
}

const timeOf = ({ hour, day }: UsageRowGroup) => hour ?? day ?? '';

/** About 30 KiB of text for each piece. */
const rowsPerPiece = 200;
const rowsPerRun = 2_000;

/**
 * A table with a column for each grouping, then the figures under their names in JSON.
 * @param parts one part is in memory at a time
 */
export function usageCsv(
  groupBy: ReadonlyArray<Grouping>,
  parts: AsyncIterable<UsageRows> | Iterable<UsageRows>,
): TextStream {
  const columns = [...groupBy, ...(Object.keys(usageFigures) as ReadonlyArray<keyof typeof usageFigures>)];
  return { contentType: 'text/csv; charset=utf-8; header=present', chunks: linesOf(columns, parts) };
}

async function* linesOf(
  columns: ReadonlyArray<keyof UsageRow>,
  parts: AsyncIterable<UsageRows> | Iterable<UsageRows>,
): AsyncGenerator<string, void, void> {
  yield csvLines([columns]);
  for await (const rows of parts) {
    const texts = await textsOf(columns, rows);
    yield* texts;
    // The export's turn ends with each part, even with an empty one.
    if (texts.length === 0) yield '';
  }
}

/** Makes the text before the client takes it, because the text takes far less memory than its rows. */
async function textsOf(columns: ReadonlyArray<keyof UsageRow>, rows: UsageRows): Promise<ReadonlyArray<string>> {
  const texts: string[] = [];
  for await (const piece of rows.pieces()) {
    texts.push(csvLines(piece.map((row) => columns.map((column) => row[column]))));
  }
  return texts;
}

/** Escapes cells that begin like a formula, so that a spreadsheet runs nothing that a client wrote. Null is empty. */
function csvLines(rows: ReadonlyArray<ReadonlyArray<unknown>>): string {
  return stringify(rows as unknown[][], { escape_formulas: true, record_delimiter: 'windows' });
}
