import assert from 'node:assert/strict';
import * as E from 'fp-ts/lib/Either.js';
import type { AnyQuery } from '#application/queries/query.ts';
import { type QueryDependencies, queryOperation } from '#application/queries/query-handler.ts';
import type { Caller } from '#domain/shared/tenancy.ts';
import { PersonalData } from '#personal-data/personal-data.ts';
import type { Json, JsonObject } from '#shared/json/json.ts';
import { callerOf } from '#test/support/events/tenants.ts';
import { ReadModel } from '#test/support/fakes/in-memory-read-store.ts';
import { InMemorySubjectKeys } from '#test/support/fakes/in-memory-subject-keys.ts';
import { invokeOperation } from './invoke-operation.ts';
import { recorded, type ToldEvent } from './recorded-events.ts';

/** A query's answer in a test. */
export interface Asked {
  /** The body of the answer. @throws AssertionError where it was refused */
  readonly body: Json;
  /** Where the next page begins; null on the last one. */
  readonly nextCursor: string | null;
  /** The code of the refusal. @throws AssertionError where it was answered */
  readonly refusal: string;
}

/**
 * The harness for queries: `(await givenLog({ stream: events }).ask(query, input)).body`. Every read model is built from
 * the streams, one after the other, and the query is answered from them through the pipeline that all callers share.
 */
export function givenLog(streams: Readonly<Record<string, ReadonlyArray<ToldEvent>>>) {
  const log = Object.entries(streams)
    .flatMap(([stream, events]) => recorded(stream, events))
    .map((event, index) => ({ ...event, position: index + 1 }));
  const runtime: QueryDependencies = {
    documents: new ReadModel(log),
    keyUsage: { touch: () => undefined, lastUsed: async () => new Map() } as unknown as QueryDependencies['keyUsage'],
    personalData: new PersonalData(new InMemorySubjectKeys()),
    projectionStatus: async () => [],
    processStatus: async () => [],
    reached: async () => true,
    lastPosition: async () => log.length,
  };
  return {
    /** @param input path and query parameters by name @param caller absent: an admin */
    ask: async (query: AnyQuery, input: JsonObject = {}, caller: Caller = callerOf('admin')): Promise<Asked> => {
      const parameters = Object.fromEntries(Object.entries(input).map(([name, value]) => [name, String(value)]));
      const answer = await invokeOperation(queryOperation(query, runtime), {
        caller,
        parameters,
        loadBody: async () => E.right({ fields: input, bodyHash: '' }),
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
