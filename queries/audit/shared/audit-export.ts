import { stringify } from 'csv-stringify/sync';
import type { AuditEntry } from '#application/history/audit-entries.ts';
import type { TextStream } from '#application/responses/text-stream.ts';

/** The media types in which the audit is exported. */
export const exportTypes = ['application/x-ndjson', 'text/csv'] as const;

/** Makes an export of entries. @param parts the entries in parts, newest first */
export function exportEntries(type: string, parts: AsyncIterable<ReadonlyArray<AuditEntry>>): TextStream {
  return type === 'text/csv'
    ? { contentType: 'text/csv; charset=utf-8; header=present', chunks: csvOf(parts) }
    : { contentType: 'application/x-ndjson', chunks: ndjsonOf(parts) };
}

async function* ndjsonOf(parts: AsyncIterable<ReadonlyArray<AuditEntry>>): AsyncGenerator<string, void, void> {
  for await (const entries of parts) {
    if (entries.length > 0) yield entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');
  }
}

const columns = [
  'position',
  'time',
  'actorKeyId',
  'actorKeyType',
  'requestId',
  'resourceKind',
  'resourceId',
  'type',
  'summary',
  'changes',
];

async function* csvOf(parts: AsyncIterable<ReadonlyArray<AuditEntry>>): AsyncGenerator<string, void, void> {
  yield csvLines([columns]);
  for await (const entries of parts) if (entries.length > 0) yield csvLines(entries.map(cellsOf));
}

/** Escapes cells that begin like a formula, so that a spreadsheet runs nothing that a client wrote. */
function csvLines(rows: ReadonlyArray<ReadonlyArray<string | number>>): string {
  return stringify(rows as (string | number)[][], { escape_formulas: true, record_delimiter: 'windows' });
}

function cellsOf({ position, time, actor, requestId, resource, type, summary, changes }: AuditEntry) {
  const patch = changes === null ? '' : JSON.stringify(changes);
  return [position, time, actor.keyId, actor.keyType, requestId, resource.kind, resource.id, type, summary, patch];
}
