import { stringify } from 'csv-stringify/sync';
import type { TextStream } from '#application/responses/text-stream.ts';
import type { Grouping } from './group-by.ts';
import type { UsageRow } from './usage-answer.ts';
import { usageFigures } from './usage-figures.ts';

/** Rows made into text at a time. */
const rowsInPart = 500;

/** Rows as a table: a column for each grouping, then the figures under their names in JSON. */
export function usageCsv(groupBy: ReadonlyArray<Grouping>, rows: ReadonlyArray<UsageRow>): TextStream {
  const columns = [...groupBy, ...(Object.keys(usageFigures) as ReadonlyArray<keyof typeof usageFigures>)];
  return { contentType: 'text/csv; charset=utf-8; header=present', chunks: linesOf(columns, rows) };
}

async function* linesOf(
  columns: ReadonlyArray<keyof UsageRow>,
  rows: ReadonlyArray<UsageRow>,
): AsyncGenerator<string, void, void> {
  yield csvLines([columns]);
  for (let start = 0; start < rows.length; start += rowsInPart) {
    yield csvLines(rows.slice(start, start + rowsInPart).map((row) => columns.map((column) => row[column])));
  }
}

/** No cell begins like a formula: whoever opens the file runs nothing that a client wrote. Null is an empty cell. */
function csvLines(rows: ReadonlyArray<ReadonlyArray<unknown>>): string {
  return stringify(rows as unknown[][], { escape_formulas: true, record_delimiter: 'windows' });
}
