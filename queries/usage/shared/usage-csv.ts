import { stringify } from 'csv-stringify/sync';
import type { TextStream } from '#application/responses/text-stream.ts';
import type { Grouping } from './group-by.ts';
import type { UsageRow } from './usage-answer.ts';
import { usageFigures } from './usage-figures.ts';

/** The rows that become one part of the text. */
const rowsPerPart = 500;

/** Makes a table of rows: a column for each grouping, then the figures under their names in JSON. */
export function usageCsv(groupBy: ReadonlyArray<Grouping>, rows: ReadonlyArray<UsageRow>): TextStream {
  const columns = [...groupBy, ...(Object.keys(usageFigures) as ReadonlyArray<keyof typeof usageFigures>)];
  return { contentType: 'text/csv; charset=utf-8; header=present', chunks: linesOf(columns, rows) };
}

async function* linesOf(
  columns: ReadonlyArray<keyof UsageRow>,
  rows: ReadonlyArray<UsageRow>,
): AsyncGenerator<string, void, void> {
  yield csvLines([columns]);
  for (let start = 0; start < rows.length; start += rowsPerPart) {
    yield csvLines(rows.slice(start, start + rowsPerPart).map((row) => columns.map((column) => row[column])));
  }
}

/** Escapes cells that begin like a formula, so that a spreadsheet runs nothing that a client wrote. Null is empty. */
function csvLines(rows: ReadonlyArray<ReadonlyArray<unknown>>): string {
  return stringify(rows as unknown[][], { escape_formulas: true, record_delimiter: 'windows' });
}
