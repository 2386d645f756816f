import type * as E from 'fp-ts/lib/Either.js';
import type * as t from 'io-ts';
import type { KeyUsage } from '#application/access/key-usage.ts';
import type { HttpRoute, Plane } from '#application/operations/operation.ts';
import type { Failure, FailureCode } from '#domain/shared/failure.ts';
import type { Scope } from '#domain/shared/scope.ts';
import type { Caller, Tenant } from '#domain/shared/tenancy.ts';
import type { PersonalData } from '#personal-data/personal-data.ts';
import type { ProcessStatus } from '#process-engine/process-statuses.ts';
import type { DocumentValue, Page, PageRequest, ProjectionStatus, ReadStore, Where } from '#read-store/read-store.ts';
import type { StoredDocument } from '#read-store/stored-document.ts';
import type { EncodedJson } from '#shared/json/encoded-json.ts';
import type { Json, JsonObject } from '#shared/json/json.ts';

/** Reads one collection. */
export interface CollectionReader {
  /** @see ReadStore.get */
  readonly get: <Value extends DocumentValue>(id: string, fresh?: 'fresh') => Promise<StoredDocument<Value> | null>;
  /** @see ReadStore.list */
  readonly list: <Value extends DocumentValue>(where: Where, page: PageRequest) => Promise<Page<Value>>;
}

/** What an answer is made from. */
export interface QueryContext<Input, Subject extends object, Read extends string = never> {
  readonly input: Input;
  /** The document that the path names. */
  readonly subject: StoredDocument<Subject>;
  readonly caller: Caller;
  /** The collections that the query declares, by the names that it gives them. */
  readonly read: Readonly<Record<Read, CollectionReader>>;
  readonly keyUsage: KeyUsage;
  /** Gives what reads the personal texts of these subjects. */
  readonly personalReader: PersonalData['readerOf'];
  /** Waits, for `READ_YOUR_WRITES_TIMEOUT_MS` at most, until these projections have passed a position. */
  readonly reached: (projections: ReadonlyArray<string>, position: number) => Promise<boolean>;
  /** The events that no projection knows. */
  readonly unknownEvents: ReadStore['unknownEvents'];
  /** How each projection stands now. */
  readonly projectionStatus: () => Promise<ReadonlyArray<ProjectionStatus>>;
  /** The status of each process now. */
  readonly processStatus: () => Promise<ReadonlyArray<ProcessStatus>>;
}

/** A query's success: the JSON value or its text, and for one resource its revision, for a page where the next begins. */
export interface QueryAnswer<Output> {
  readonly body: Output | EncodedJson<Output>;
  readonly revision?: number;
  readonly nextCursor?: string;
}

/** One question, answered from read models. */
export interface Query<Input extends object, Subject extends Tenant, Output, Read extends string = never> {
  readonly name: string;
  readonly summary: string;
  readonly description?: string;
  readonly group: string;
  /** The shape of its errors. Default `control`. */
  readonly plane?: Plane;
  /** Nodes of the other plane answer it too. */
  readonly onBothPlanes?: true;
  readonly http: HttpRoute;
  /** Null when any valid key may ask. */
  readonly scope: Scope | null;
  readonly input: t.Type<Input, unknown, unknown>;
  readonly output: t.Type<Output, unknown, unknown>;
  readonly failures: ReadonlyArray<FailureCode>;
  readonly example: { readonly input?: JsonObject; readonly output?: Json };
  /**
   * The projections that it reads beside its subject's, by the names that its context has them under: it can read no
   * others. `Switchyard-Min-Position` waits for them and the subject's.
   */
  readonly reads: Readonly<Record<Read, { readonly name: string }>>;
  /** The document that the path names, judged for reach; null where the answer is within reach by itself. */
  readonly subject: {
    readonly collection: { readonly name: string };
    readonly parameter: string;
    readonly notFound: FailureCode;
  } | null;
  /** It answers pages: `limit` and `cursor` belong to its input. */
  readonly paged?: boolean;
  /** The answer is one resource with an ETag. */
  readonly hasRevision?: boolean;
  readonly answer: (
    context: QueryContext<Input, Subject, Read>,
  ) => Promise<E.Either<Failure, QueryAnswer<Output>>> | E.Either<Failure, QueryAnswer<Output>>;
}

// biome-ignore lint/suspicious/noExplicitAny: the table holds queries of every shape; each stays typed where it is made.
export type AnyQuery = Query<any, any, any, any>;

/** Declares a query. */
export function query<Input extends object, Subject extends Tenant, Output, Read extends string = never>(
  definition: Query<Input, Subject, Output, Read>,
): Query<Input, Subject, Output, Read> {
  return definition;
}
