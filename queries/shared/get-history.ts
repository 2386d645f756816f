import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { eventFilters, type HistoryInput, readHistoryPage } from '#application/history/history-page.ts';
import { get } from '#application/operations/operation.ts';
import { pageAnswer, pageInput } from '#application/operations/paging.ts';
import { type AnyQuery, type Query, query } from '#application/queries/query.ts';
import { cuid } from '#domain/codecs/id.ts';
import type { AnyEntityHistory } from '#domain/history/listed-event.ts';
import { HistoryEvent, type ResourceKind } from '#domain/history/record.ts';
import type { Tenant } from '#domain/shared/access.ts';
import { type ListOf, listOf } from './list-of.ts';

/** What the query does not share with the query for the resource. */
interface HistoryOptions {
  /** The noun for the resource in the summary; default as in the summary of the resource's query. */
  readonly noun?: string;
  /** Set if the stream has several resources and only the events of one are listed. */
  readonly oneOf?: ResourceKind;
  /** Only for ids that are not cuids. */
  readonly idCodec?: t.Mixed;
}

/**
 * It reads the stream, so that a deleted resource keeps its history.
 * @param resource reads the resource itself, and gives group, path, scope and parameter
 */
export function getHistory(
  { about: { name, summary, group }, plane, http, access: { scope, subject: named } }: AnyQuery,
  history: AnyEntityHistory,
  { noun = summary.replace(/^Read /, ''), oneOf, idCodec = cuid }: HistoryOptions = {},
): Query<HistoryInput, Tenant, ListOf<'events', HistoryEvent>, never, 'history' | 'personalReader' | 'streams'> {
  if (named === null) throw new Error(`${name} reads no resource.`);
  const { parameter, notFound } = named;
  // TypeScript does not keep the name of a computed member in the type.
  const input = t.intersection([
    t.type({ [parameter]: idCodec }),
    t.partial({ ...pageInput, ...eventFilters }),
  ]) as unknown;
  return query<HistoryInput, Tenant, ListOf<'events', HistoryEvent>, never, 'history' | 'personalReader' | 'streams'>({
    about: {
      name: `${name}_history`,
      summary: `Read the history of ${noun}`,
      description:
        'Every event, oldest first: who, when, in which request, one sentence, and `changes` as a JSON Patch from the ' +
        'record before to the record after (null without one). A page may be empty and not the last: follow ' +
        '`nextCursor`.',
      group,
      example: { output: { events: [HistoryEvent.example] } },
    },
    ...(plane === undefined ? {} : { plane }),
    access: { scope, subject: { entity: history.entity, parameter, idCodec, notFound } },
    http: get(`${http.path}/history`),
    input: input as t.Type<HistoryInput, unknown, unknown>,
    output: listOf('events', HistoryEvent),
    failures: [notFound],
    reads: {},
    services: ['history', 'personalReader', 'streams'],
    paged: true,
    answer: async (
      { input, subject: { id }, request: { maxPageBytes } },
      { history: streams, personalReader, streams: current },
    ) => {
      const { entity } = history;
      const { state } = await current.load(entity, id);
      const personal = history.personalSubject?.(state) ?? null;
      const open = await personalReader(personal === null ? [] : [personal]);
      const reader = { data: streams.dataReader(entity, id), open, findKeyName: streams.keyNames.find };
      const resource = oneOf === undefined ? null : { kind: oneOf, id };
      const wanted = { history, entity, id, resource, reader, maxPageBytes };
      const { events, nextCursor } = await readHistoryPage(streams, wanted, input);
      return E.right(pageAnswer('events', events, nextCursor));
    },
  });
}
