import { stringify } from 'csv-stringify/sync';
import { addUsage, noUsage, type UsageSums } from '#domain/usage/usage-total.ts';
import type { TextStream } from '#exchange/response-sink.ts';
import type { UsageDocument } from '#projections/usage/usage-by-period.ts';
import { type Grouping, groupOf, type UsageRowGroup } from './group-by.ts';
import { figuresOf, type UsageRow, usageFigures } from './usage-answer.ts';

/** Sums documents up to rows. The rows are in the order of time, then by calls (most first), then by name. */
export class UsageRows {
  readonly #groupBy: ReadonlyArray<Grouping>;
  readonly #rows = new Map<string, { readonly group: UsageRowGroup; sums: UsageSums }>();

  constructor(groupBy: ReadonlyArray<Grouping>) {
    this.#groupBy = groupBy;
  }

  get size(): number {
    return this.#rows.size;
  }

  add(document: UsageDocument): void {
    const group = groupOf(this.#groupBy, document);
    const name = JSON.stringify(group);
    const row = this.#rows.get(name);
    if (row === undefined) this.#rows.set(name, { group, sums: document.sums });
    else row.sums = addUsage(row.sums, document.sums);
  }

  /** Returns the rows. Without a grouping there is always one row, even if there are no calls. */
  rows(): ReadonlyArray<UsageRow> {
    if (this.#groupBy.length === 0 && this.size === 0) return [figuresOf(noUsage)];
    const named = [...this.#rows].map(([name, { group, sums }]) => ({ name, time: timeOf(group), group, sums }));
    named.sort((one, other) => {
      if (one.time !== other.time) return one.time < other.time ? -1 : 1;
      return other.sums.calls - one.sums.calls || (one.name < other.name ? -1 : 1);
    });
    return named.map(({ group, sums }) => ({ ...group, ...figuresOf(sums) }));
  }
}

const timeOf = ({ hour, day }: UsageRowGroup) => hour ?? day ?? '';

/** The rows of one piece of the text: about 30 KiB. */
const rowsPerPiece = 200;

/**
 * Makes a table of rows: a column for each grouping, then the figures under their names in JSON.
 * @param parts the rows; one part is in memory at a time
 */
export function usageCsv(
  groupBy: ReadonlyArray<Grouping>,
  parts: AsyncIterable<ReadonlyArray<UsageRow>> | Iterable<ReadonlyArray<UsageRow>>,
): TextStream {
  const columns = [...groupBy, ...(Object.keys(usageFigures) as ReadonlyArray<keyof typeof usageFigures>)];
  return { contentType: 'text/csv; charset=utf-8; header=present', chunks: linesOf(columns, parts) };
}

async function* linesOf(
  columns: ReadonlyArray<keyof UsageRow>,
  parts: AsyncIterable<ReadonlyArray<UsageRow>> | Iterable<ReadonlyArray<UsageRow>>,
): AsyncGenerator<string, void, void> {
  yield csvLines([columns]);
  for await (const rows of parts) {
    yield* piecesOf(rows.map((row) => columns.map((column) => row[column])));
    // The export's turn ends with each part, even with an empty one.
    if (rows.length === 0) yield '';
  }
}

/** Makes the whole text of a part at once, which takes far less memory than its rows. */
function piecesOf(cells: ReadonlyArray<ReadonlyArray<unknown>>): ReadonlyArray<string> {
  const pieces: string[] = [];
  for (let start = 0; start < cells.length; start += rowsPerPiece) {
    pieces.push(csvLines(cells.slice(start, start + rowsPerPiece)));
  }
  return pieces;
}

/** Escapes cells that begin like a formula, so that a spreadsheet runs nothing that a client wrote. Null is empty. */
function csvLines(rows: ReadonlyArray<ReadonlyArray<unknown>>): string {
  return stringify(rows as unknown[][], { escape_formulas: true, record_delimiter: 'windows' });
}
