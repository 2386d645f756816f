import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { type EntryReads, entryTexts } from '#application/history/audit-entries.ts';
import { eventFilters } from '#application/history/history-page.ts';
import { acceptedType } from '#application/operations/accepted-type.ts';
import { get } from '#application/operations/operation.ts';
import { encodeCursor, maxPageItems, pageAnswer, pageInput } from '#application/operations/paging.ts';
import { query } from '#application/queries/query.ts';
import { AuditEntry } from '#domain/history/record.ts';
import type { Tenant } from '#domain/shared/access.ts';
import { audit } from '#projections/audit.ts';
import { type ListOf, listOf } from '#queries/shared/list-of.ts';
import type { PageKey } from '#read-store/read-store.ts';
import { withJsonSchema } from '#shared/codecs/json-schema.ts';
import { text } from '#shared/codecs/text.ts';
import { EncodedJson } from '#shared/json/json.ts';
import { type ExportForm, exportForm, exportTypes } from './audit-export.ts';
import { type AuditPart, searchAudit } from './audit-search.ts';

const Input = t.partial({
  ...pageInput,
  ...eventFilters,
  resource: withJsonSchema(text(), {
    type: 'string',
    description: 'The id of a resource, or a kind like flow. The id of a flow or a template includes its versions',
  }),
});

type Input = t.TypeOf<typeof Input>;

/** The number of places that an export finds together. */
const placesPerPart = 100;
/**
 * Limits of a piece of an export. An unread one is in memory up to three times: as lines, as a whole and in the
 * connection.
 */
const pieceLimits = { maxBytes: 20 * 1024, mayExceed: true };

export const listAuditEntries = query<
  Input,
  Tenant,
  ListOf<'entries', AuditEntry>,
  'audit',
  'history' | 'personalReader'
>({
  about: {
    name: 'list_audit_entries',
    summary: 'List the audit entries, newest first',
    description:
      'Who did what to all resources that the key has access to. `since` is included, `until` is not. With `Accept: ' +
      'application/x-ndjson` or `text/csv`, all entries are streamed without pages. `changes` of more than 64 KiB are null, ' +
      'with `changesOmitted`; the history of the resource has them. A page may be empty and not the last: follow ' +
      '`nextCursor`.',
    group: 'Audit',
    example: { output: { entries: [AuditEntry.example] } },
  },
  http: get('/v1/audit'),
  access: { scope: 'audit:read', subject: null },
  input: Input,
  output: listOf('entries', AuditEntry),
  failures: [],
  reads: { audit },
  services: ['history', 'personalReader'],
  paged: true,
  produces: exportTypes,
  answer: async ({ input, request: { caller, accept, maxPageBytes } }, { read, ...reads }) => {
    const { limit = maxPageItems, cursor: from = null, ...search } = input;
    const type = acceptedType(accept, exportTypes);
    if (type !== null) {
      const form = exportForm(type);
      const chunks = exportOf(
        reads,
        form,
        (after) => searchAudit(read.audit, caller, search, after, placesPerPart),
        from,
      );
      return E.right({ stream: { contentType: form.contentType, chunks } });
    }
    const part = await searchAudit(read.audit, caller, search, from, limit);
    return E.right(await pageOf(reads, part, maxPageBytes));
  },
});

async function pageOf(reads: EntryReads, { found, next }: AuditPart, maxPageBytes: number) {
  const items: EncodedJson<AuditEntry>[] = [];
  let bytes = 0;
  let covered = 0;
  const limits = () => ({ maxBytes: maxPageBytes - bytes, mayExceed: items.length === 0 });
  for await (const part of entryTexts(reads, found, JSON.stringify, limits)) {
    for (const text of part.texts) items.push(new EncodedJson<AuditEntry>(text));
    bytes += part.bytes;
    covered += part.covered;
    if (part.isCut) break;
  }
  const last = found[covered - 1];
  const isCut = covered < found.length && last !== undefined;
  const end = isCut ? { order: last.position, id: String(last.position) } : next;
  return pageAnswer('entries', items, end === null ? null : encodeCursor(end));
}

/** Only places of entries and one piece are in memory while the client is waited for. */
async function* exportOf(
  reads: EntryReads,
  { head, lineOf }: ExportForm,
  search: (after: PageKey | null) => Promise<AuditPart>,
  from: PageKey | null,
): AsyncGenerator<string, void, void> {
  yield head;
  let after = from;
  do {
    const { found, next } = await search(after);
    for await (const { texts } of entryTexts(reads, found, lineOf, () => pieceLimits)) yield texts.join('');
    // The export's turn ends with each piece, even with an empty one.
    if (found.length === 0) yield '';
    after = next;
  } while (after !== null);
}
