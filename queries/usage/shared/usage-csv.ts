import { stringify } from 'csv-stringify/sync';
import type { TextStream } from '#exchange/response-sink.ts';
import type { Grouping } from './group-by.ts';
import type { UsageRow } from './usage-answer.ts';
import { usageFigures } from './usage-figures.ts';

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
