import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { eventFilters, HistoryEvent, type HistoryInput, readHistoryPage } from '#application/history/history-page.ts';
import { get, type Plane } from '#application/operations/operation.ts';
import { pageAnswer, pageInput } from '#application/queries/paging.ts';
import { type Query, query } from '#application/queries/query.ts';
import { cuid } from '#domain/codecs/id.ts';
import type { AnyEntityHistory, ResourceKind } from '#domain/history/listed-event.ts';
import { examples } from '#domain/shared/examples.ts';
import type { FailureCode } from '#domain/shared/failure.ts';
import type { Scope } from '#domain/shared/scope.ts';
import type { Tenant } from '#domain/shared/tenancy.ts';
import { type ListOf, listOf } from './list-of.ts';

/** The parts of a history that differ between kinds of resources. */
interface HistoryOf {
  readonly name: string;
  readonly summary: string;
  readonly group: string;
  readonly plane?: Plane;
  readonly path: `/v1/${string}/history`;
  readonly scope: Scope;
  /** The path parameter with the id. */
  readonly parameter: string;
  /** The codec of ids that are not cuids. */
  readonly idCodec?: t.Mixed;
  readonly notFound: FailureCode;
  readonly history: AnyEntityHistory;
  /** The kind of resource if its stream has several resources and only the events of one are listed. */
  readonly oneOf?: ResourceKind;
}

/** Defines the query for a resource's history. It reads the stream, so that a deleted resource keeps its history. */
export function getHistory({
  path,
  parameter,
  notFound,
  history,
  oneOf,
  idCodec = cuid,
  ...described
}: HistoryOf): Query<HistoryInput, Tenant, ListOf<'events', HistoryEvent>> {
  // TypeScript does not keep the name of a computed member in the type.
  const input = t.intersection([
    t.type({ [parameter]: idCodec }),
    t.partial({ ...pageInput, ...eventFilters }),
  ]) as unknown;
  return query<HistoryInput, Tenant, ListOf<'events', HistoryEvent>>({
    ...described,
    description:
      'Every event, oldest first: who, when, in which request, one sentence, and `changes` as a JSON Patch from the ' +
      'record before to the record after (null if there is none). A page may be empty and not the last: follow ' +
      '`nextCursor`.',
    http: get(path),
    input: input as t.Type<HistoryInput, unknown, unknown>,
    output: listOf('events', HistoryEvent),
    failures: [notFound],
    example: { output: { events: [examples.historyEvent] } },
    reads: {},
    subject: { entity: history.entity, parameter, idCodec, notFound },
    paged: true,
    answer: async ({ input, subject: { id }, history: streams, personalReader, streams: current, maxPageBytes }) => {
      const { entity } = history;
      const { state } = await current.load(entity, id);
      const personal = history.personalSubject?.(state) ?? null;
      const open = await personalReader(personal === null ? [] : [personal]);
      const reader = { data: streams.dataReader(entity, id), open };
      const resource = oneOf === undefined ? null : { kind: oneOf, id };
      const wanted = { history, entity, id, resource, reader, maxPageBytes };
      const { events, nextCursor } = await readHistoryPage(streams, wanted, input);
      return E.right(pageAnswer('events', events, nextCursor));
    },
  });
}
