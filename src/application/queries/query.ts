import type * as E from 'fp-ts/lib/Either.js';
import type * as t from 'io-ts';
import type { KeyUsage } from '#application/access/key-usage.ts';
import type { StreamWriter } from '#application/commands/stream-writer.ts';
import type { VersionComparer } from '#application/diffs/version-comparer.ts';
import type { StreamHistory } from '#application/history/stream-history.ts';
import type { HttpRoute, Plane } from '#application/operations/operation.ts';
import type { TextStream } from '#application/responses/text-stream.ts';
import type { WebhookReads } from '#application/webhooks/webhook-reads.ts';
import type { InclusionProof } from '#digests/inclusion-proof.ts';
import type { Entity } from '#domain/shared/entity.ts';
import type { Failure, FailureCode } from '#domain/shared/failure.ts';
import type { Scope } from '#domain/shared/scope.ts';
import type { Caller, Tenant } from '#domain/shared/tenancy.ts';
import type { GatewayHealth } from '#domain/usage/gateway-health.ts';
import type { PersonalData } from '#personal-data/personal-data.ts';
import type { ProcessStatus } from '#process-engine/process-statuses.ts';
import type { LagMonitor } from '#projection-engine/progress/lag-monitor.ts';
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
  /** Which of the media types that the query produces is wanted; null for JSON. */
  readonly accept: string | null;
  /** Bytes of a page at most. */
  readonly maxPageBytes: number;
  /** When it is asked, RFC 3339. */
  readonly time: string;
  /** The collections that the query declares, by the names that it gives them. */
  readonly read: Readonly<Record<Read, CollectionReader>>;
  readonly keyUsage: KeyUsage;
  /** Streams as they were. */
  readonly history: StreamHistory;
  /** Streams as they are now. */
  readonly streams: Pick<StreamWriter, 'load'>;
  /** Gives what reads the personal texts of these subjects. */
  readonly personalReader: PersonalData['readerOf'];
  /** Waits, for `READ_YOUR_WRITES_TIMEOUT_MS` at most, until these projections have passed a position. */
  readonly waitForPosition: (projections: ReadonlyArray<string>, position: number) => Promise<boolean>;
  /** Compares versions. */
  readonly comparer: Pick<VersionComparer, 'compare'>;
  /** Proves that a stream is in the newest signed digest; null where it is in none. */
  readonly proveInclusion: (stream: string) => Promise<InclusionProof | null>;
  /** How far the delivery of webhooks is. */
  readonly webhooks: WebhookReads;
  /** The events that no projection knows. */
  readonly unknownEvents: ReadStore['unknownEvents'];
  /** Where the log ends, as the event store says; null when it does not say so in time. */
  readonly lastPosition: () => Promise<number | null>;
  /** The present status of each projection. */
  readonly projectionStatus: () => Promise<ReadonlyArray<ProjectionStatus>>;
  /** What this node has seen of the projections' lag. */
  readonly lag: Pick<LagMonitor, 'lagMs' | 'past'>;
  /** How this node's gateway sees its targets; null on a node without one. */
  readonly gatewayHealth: () => GatewayHealth | null;
  /** The present status of each process. */
  readonly processStatus: () => Promise<ReadonlyArray<ProcessStatus>>;
}

/** A query's answer that is not JSON, in one of its media types. */
export interface StreamedAnswer {
  readonly stream: TextStream;
}

/**
 * A query's success: the JSON value or its text, and for one resource its revision, for a page where the next begins.
 */
export interface QueryAnswer<Output> {
  readonly body: Output | EncodedJson<Output>;
  readonly revision?: number;
  readonly nextCursor?: string;
}

// biome-ignore lint/suspicious/noExplicitAny: whether something is in a stream is asked of states of every entity.
type AnyEntity = Entity<any, any>;

/** What a path names, as a read model has it. */
export interface DocumentSubject {
  readonly collection: { readonly name: string };
  readonly parameter: string;
  readonly notFound: FailureCode;
  /**
   * The input has a member `asOf`: what was deleted since can be asked for with it, so its stream decides whether it was
   * ever there.
   */
  readonly past?: AnyEntity;
}

/** What a path names, as its stream has it, deleted or not. The context's `subject` has its id alone. */
export interface StreamSubject {
  readonly entity: AnyEntity;
  readonly parameter: string;
  /** Of the parameter; default a cuid. */
  readonly idCodec?: t.Mixed;
  readonly notFound: FailureCode;
}

type Answered<Output> = E.Either<Failure, QueryAnswer<Output> | StreamedAnswer>;

/** A query, answered from read models, or from streams if it is about the past. */
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
  /** Null if every valid key may call it. */
  readonly scope: Scope | null;
  readonly input: t.Type<Input, unknown, unknown>;
  /** Null if the answer is bytes: see `content-query.ts`. */
  readonly output: t.Type<Output, unknown, unknown> | null;
  readonly failures: ReadonlyArray<FailureCode>;
  readonly example: { readonly input?: JsonObject; readonly output?: Json };
  /**
   * The projections that it reads beside its subject's, by the names that its context has them under: it can read no
   * others. `Switchyard-Min-Position` waits for them and the subject's.
   */
  readonly reads: Readonly<Record<Read, { readonly name: string }>>;
  /** What the path names, judged for reach; null where the answer is within reach by itself. */
  readonly subject: (DocumentSubject | StreamSubject) | null;
  /** The media types besides JSON that it may answer; `accept` has the requested one. */
  readonly produces?: ReadonlyArray<string>;
  /** It answers pages: `limit` and `cursor` belong to its input. */
  readonly paged?: boolean;
  /** The answer is one resource with an ETag. */
  readonly hasRevision?: boolean;
  /** Parts of the answer change while its ETag does not, so that `If-None-Match` is ignored. */
  readonly changesWithinRevision?: true;
  readonly answer: (context: QueryContext<Input, Subject, Read>) => Promise<Answered<Output>> | Answered<Output>;
}

// biome-ignore lint/suspicious/noExplicitAny: the table holds queries of every shape; each stays typed where it is made.
export type AnyQuery = Query<any, any, any, any>;

/** Declares a query. */
export function query<Input extends object, Subject extends Tenant, Output, Read extends string = never>(
  definition: Query<Input, Subject, Output, Read>,
): Query<Input, Subject, Output, Read> {
  return definition;
}
