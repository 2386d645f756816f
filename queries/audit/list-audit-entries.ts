import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { AuditEntry, auditEntries, type EntryReads, type EventPlace } from '#application/history/audit-entries.ts';
import { eventFilters } from '#application/history/history-page.ts';
import { get } from '#application/operations/operation.ts';
import { encodeCursor, maxPageItems, pageAnswer, pageInput } from '#application/queries/paging.ts';
import { type CollectionReader, query } from '#application/queries/query.ts';
import { examples } from '#domain/shared/examples.ts';
import type { Caller, Tenant } from '#domain/shared/tenancy.ts';
import { type AuditDocument, audit } from '#projections/audit.ts';
import { type ListOf, listOf } from '#queries/shared/list-of.ts';
import type { PageKey } from '#read-store/read-store.ts';
import type { StoredDocument } from '#read-store/stored-document.ts';
import { withJsonSchema } from '#shared/codecs/json-schema.ts';
import { text } from '#shared/codecs/text.ts';
import { type EncodedJson, encodeJson } from '#shared/json/encoded-json.ts';
import { exportEntries, exportTypes } from './shared/audit-export.ts';
import { type AuditSearch, searchAudit } from './shared/audit-search.ts';

const Input = t.partial({
  ...pageInput,
  ...eventFilters,
  resource: withJsonSchema(text(), { type: 'string', description: 'The id of a resource, or a kind like flow' }),
});

type Input = t.TypeOf<typeof Input>;

/** The entries of a part of an export, which is in memory at one time. */
const entriesPerPart = 200;

export const listAuditEntries = query<Input, Tenant, ListOf<'entries', AuditEntry>, 'audit'>({
  name: 'list_audit_entries',
  summary: 'List the audit entries, newest first',
  description:
    'Who did what to all resources that the key has access to. `since` is included, `until` is not. With `Accept: ' +
    'application/x-ndjson` or `text/csv`, all entries are streamed without pages. `changes` of more than 64 KiB are null, ' +
    'with `changesOmitted`; the history of the resource has them. A page may be empty and not the last: follow ' +
    '`nextCursor`.',
  group: 'Audit',
  http: get('/v1/audit'),
  scope: 'audit:read',
  input: Input,
  output: listOf('entries', AuditEntry),
  failures: [],
  example: { output: { entries: [examples.auditEntry] } },
  reads: { audit },
  subject: null,
  paged: true,
  produces: exportTypes,
  answer: async ({
    input: { limit = maxPageItems, cursor, ...search },
    caller,
    read,
    accept,
    maxPageBytes,
    ...reads
  }) => {
    const from = cursor ?? null;
    if (accept !== null) {
      return E.right({ stream: exportEntries(accept, allEntries(reads, read.audit, caller, search, from)) });
    }
    const { found, next } = await searchAudit(read.audit, caller, search, from, limit);
    return E.right(await pageOf(reads, found, next, maxPageBytes));
  },
});

async function pageOf(
  reads: EntryReads,
  found: ReadonlyArray<StoredDocument<AuditDocument>>,
  next: PageKey | null,
  maxPageBytes: number,
) {
  const items: EncodedJson<AuditEntry>[] = [];
  let characters = 0;
  for (let index = 0; index < found.length; index += entriesPerPart) {
    const documents = found.slice(index, index + entriesPerPart);
    const entries = await auditEntries(reads, documents.map(placeOf));
    const byPosition = new Map(entries.map((entry) => [entry.position, entry]));
    for (const [offset, { order }] of documents.entries()) {
      const entry = byPosition.get(order);
      if (entry === undefined) continue;
      const item = encodeJson(entry);
      if (items.length > 0 && characters + item.text.length > maxPageBytes) {
        const last = found[index + offset - 1];
        return pageAnswer('entries', items, last === undefined ? null : encodeCursor(last));
      }
      items.push(item);
      characters += item.text.length;
    }
  }
  return pageAnswer('entries', items, next === null ? null : encodeCursor(next));
}

async function* allEntries(
  reads: EntryReads,
  collection: CollectionReader,
  caller: Caller,
  search: AuditSearch,
  from: PageKey | null,
): AsyncGenerator<ReadonlyArray<AuditEntry>, void, void> {
  let after = from;
  do {
    const { found, next } = await searchAudit(collection, caller, search, after, entriesPerPart);
    yield await auditEntries(reads, found.map(placeOf));
    after = next;
  } while (after !== null);
}

function placeOf({ order, value: { stream, revision } }: StoredDocument<AuditDocument>): EventPlace {
  return { position: order, stream, revision };
}
