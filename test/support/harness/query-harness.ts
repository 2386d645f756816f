import assert from 'node:assert/strict';
import * as E from 'fp-ts/lib/Either.js';
import { VersionComparer } from '#application/diffs/version-comparer.ts';
import { StreamHistory } from '#application/history/stream-history.ts';
import { PendingResources } from '#application/operations/read-your-writes.ts';
import type { AnyQuery, QueryServices } from '#application/queries/query.ts';
import { type QueryDependencies, queryOperation } from '#application/queries/query-handler.ts';
import { StreamWriter } from '#application/streams/stream-writer.ts';
import type { Caller, Tenant } from '#domain/shared/access.ts';
import { Admission } from '#exchange/admission.ts';
import { noInput } from '#exchange/body.ts';
import { PersonalData } from '#personal-data/personal-data.ts';
import { Positions } from '#positions/positions.ts';
import type { ReadStore } from '#read-store/read-store.ts';
import type { Json, JsonObject } from '#shared/json/json.ts';
import { callerOf } from '#test/support/events/tenants.ts';
import { AppendableEventStore } from '#test/support/fakes/appendable-event-store.ts';
import { ReadModel } from '#test/support/fakes/in-memory-read-store.ts';
import { inMemoryResponses } from '#test/support/fakes/in-memory-response-store.ts';
import { InMemorySubjectKeys } from '#test/support/fakes/in-memory-subject-keys.ts';
import { invokeOperation } from './invoke-operation.ts';
import { type ExampleEvent, recorded } from './recorded-events.ts';

/** The answer to a query in a test. */
export interface QueryAnswer {
  /** The body. @throws AssertionError when the query was refused */
  readonly body: Json;
  /** The cursor of the next page; null on the last page. */
  readonly nextCursor: string | null;
  /** The code of the refusal. @throws AssertionError when the query was answered */
  readonly refusal: string;
}

/** The stores on which a test invokes queries. */
export interface QueriedStores {
  readonly store: AppendableEventStore;
  /** Default: read models of the whole log. */
  readonly documents?: ReadStore;
  readonly personalData?: PersonalData;
  /** Default: the read models show all that was written. */
  readonly pending?: PendingResources;
  /** Default: a history without cached states. */
  readonly history?: StreamHistory;
  /** Default: no deliveries. */
  readonly webhooks?: QueryServices['webhooks'];
  /** Default: no calls. */
  readonly calls?: QueryServices['calls'];
  /** Default: none. */
  readonly responses?: QueryServices['responses'];
}

/** Queries on an event store, through the pipeline that all callers share. */
export function queriesOn({
  store,
  documents,
  pending,
  personalData,
  history,
  webhooks,
  calls,
  responses,
}: QueriedStores) {
  const personal = personalData ?? new PersonalData(new InMemorySubjectKeys());
  const admission = new Admission();
  const runtime: QueryDependencies = {
    documents: documents ?? new ReadModel(store.log),
    pending: pending ?? new PendingResources(new Positions(admission)),
    admission,
    services: {
      history: history ?? new StreamHistory(store),
      personalReader: (subjects) => personal.readerOf(subjects),
      streams: new StreamWriter({ store }),
      keyUsage: { touch: () => undefined, lastUsed: async () => new Map() } as unknown as QueryServices['keyUsage'],
      comparer: new VersionComparer({ admission, maxCharactersHere: Number.MAX_SAFE_INTEGER }),
      proveInclusion: async () => null,
      verification: async () => null,
      webhooks: webhooks ?? {
        deliveryOf: async () => null,
        deliveriesTo: async () => ({ deliveries: [], next: null }),
      },
      calls: calls ?? { ofRequest: async () => [], page: async () => ({ calls: [], next: null }) },
      responses: responses ?? inMemoryResponses(),
      unknownEvents: () => runtime.documents.unknownEvents(),
      projectionStatus: async () => [],
      processStatus: async () => [],
      gatewayHealth: () => null,
      lag: { lagMs: () => 0, past: () => ({ times: [], worstLag: [], worstLagMs: [], growth: [] }) },
      waitForPosition: async () => true,
      lastPosition: async () => store.log.length,
    },
  };
  return {
    store,
    /** The answer to a query in one of the media types that it produces. */
    export: async (query: AnyQuery, accept: string, input: JsonObject = {}, caller: Caller = callerOf('admin')) => {
      const loadBody = async () => E.right({ ...noInput, fields: input });
      const answer = await invokeOperation(queryOperation(query, runtime), { caller, accept, loadBody });
      assert.ok(E.isRight(answer) && answer.right.stream !== undefined, JSON.stringify(answer));
      return answer.right.stream;
    },
    /** @param input path and query parameters by name @param caller absent: an admin */
    ask: async (query: AnyQuery, input: JsonObject = {}, caller: Caller = callerOf('admin')): Promise<QueryAnswer> => {
      const parameters = Object.fromEntries(Object.entries(input).map(([name, value]) => [name, String(value)]));
      const answer = await invokeOperation(queryOperation(query, runtime), {
        caller,
        parameters,
        loadBody: async () => E.right({ ...noInput, fields: input }),
      });
      return {
        get body() {
          assert.ok(E.isRight(answer), JSON.stringify(answer));
          return JSON.parse(JSON.stringify(answer.right.body));
        },
        get nextCursor() {
          assert.ok(E.isRight(answer), JSON.stringify(answer));
          return answer.right.nextCursor ?? null;
        },
        get refusal() {
          assert.ok(E.isLeft(answer), 'the query was answered');
          return answer.left.code;
        },
      };
    },
  };
}

/**
 * The harness for queries: `(await givenLog({ stream: events }).ask(query, input)).body`. It builds every read
 * model from the streams, one after the other, and invokes the query through the pipeline that all callers share.
 * @param tenantOf the tenants of streams by name; default the first example project
 */
export function givenLog(
  streams: Readonly<Record<string, ReadonlyArray<ExampleEvent>>>,
  tenantOf: Readonly<Record<string, Tenant>> = {},
) {
  const log = Object.entries(streams)
    .flatMap(([stream, events]) => recorded(stream, events, tenantOf[stream] ?? {}))
    .map((event, index) => ({ ...event, position: index + 1 }));
  const store = new AppendableEventStore();
  store.log.push(...log);
  return queriesOn({ store });
}
