import { stringify } from 'csv-stringify/sync';
import type { AuditEntry } from '#domain/history/record.ts';

export const exportTypes = ['application/x-ndjson', 'text/csv'] as const;

export interface ExportForm {
  readonly contentType: string;
  /** Text before the first entry. */
  readonly head: string;
  /** Includes the line break. */
  readonly lineOf: (entry: AuditEntry) => string;
}

export function exportForm(type: string): ExportForm {
  return type === 'text/csv' ? csv() : ndjson;
}

const ndjson: ExportForm = {
  contentType: 'application/x-ndjson',
  head: '',
  lineOf: (entry) => `${JSON.stringify(entry)}\n`,
};

function csv(): ExportForm {
  return {
    contentType: 'text/csv; charset=utf-8; header=present',
    head: csvLine(columns),
    lineOf: (entry) => csvLine(cellsOf(entry)),
  };
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
  // New columns come last, so that readers by number keep theirs.
  'actorKeyName',
  'onBehalfOf',
];

/** Escapes cells that begin like a formula, so that a spreadsheet runs nothing that a client wrote. */
function csvLine(cells: ReadonlyArray<string | number>): string {
  return stringify([[...cells]], { escape_formulas: true, record_delimiter: 'windows' });
}

function cellsOf({ position, time, actor, requestId, resource, type, summary, changes }: AuditEntry) {
  const patch = changes === null ? '' : JSON.stringify(changes);
  const { keyId, keyType, keyName, onBehalfOf } = actor;
  const event = [position, time, keyId, keyType, requestId, resource.kind, resource.id, type, summary, patch];
  return [...event, keyName ?? '', onBehalfOf ?? ''];
}
