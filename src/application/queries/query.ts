import type * as E from 'fp-ts/lib/Either.js';
import type * as t from 'io-ts';
import type { KeyUsage } from '#application/access/key-usage.ts';
import type { VersionComparer } from '#application/diffs/version-comparer.ts';
import type { StreamHistory } from '#application/history/stream-history.ts';
import type { HttpRoute, OperationAbout, OperationAccess } from '#application/operations/operation.ts';
import type { Decoded } from '#application/operations/operation-request.ts';
import type { CollectionReader, QueryAnswer } from '#application/operations/paging.ts';
import type { ProcessStatus } from '#application/queries/process-status.ts';
import type { RecordedCalls } from '#application/queries/recorded-calls.ts';
import type { StreamWriter } from '#application/streams/stream-writer.ts';
import type { WebhookReads } from '#application/webhooks/webhook-reads.ts';
import type { InclusionProof } from '#domain/history/digest.ts';
import type { LogVerification } from '#domain/history/verification.ts';
import type { Tenant } from '#domain/shared/access.ts';
import type { Entity } from '#domain/shared/entity.ts';
import type { Failure, FailureCode } from '#domain/shared/failure.ts';
import type { GatewayHealth } from '#domain/usage/gateway-health.ts';
import type { TextStream } from '#exchange/client.ts';
import type { Plane } from '#exchange/problem.ts';
import type { PersonalData } from '#personal-data/personal-data.ts';
import type { LagMonitor } from '#projection-engine/progress/lag-monitor.ts';
import type { ReadCollection } from '#read-store/newest-claims.ts';
import type { ProjectionStatus, ReadStore } from '#read-store/read-store.ts';
import type { StoredDocument } from '#read-store/stored-document.ts';
import type { ResponseAmounts } from '#responses/stored-responses.ts';

/** What a query may use in addition to documents. The services are the same for all requests. */
export interface QueryServices {
  readonly history: StreamHistory;
  /** Reads the personal texts of these subjects. */
  readonly personalReader: PersonalData['readerOf'];
  readonly keyUsage: KeyUsage;
  readonly streams: Pick<StreamWriter, 'load'>;
  /** Waits for `READ_YOUR_WRITES_TIMEOUT_MS` at most. */
  readonly waitForPosition: (projections: ReadonlyArray<string>, position: number) => Promise<boolean>;
  readonly comparer: Pick<VersionComparer, 'compare'>;
  /** The last verification; null before the first, `off` if no digests are signed. */
  readonly verification: () => Promise<LogVerification | null | 'off'>;
  /** Proves that the stream is in the newest signed digest; null if it is in none. */
  readonly proveInclusion: (stream: string) => Promise<InclusionProof | null>;
  readonly webhooks: WebhookReads;
  /** Types of events that this release does not know. */
  readonly unknownEvents: ReadStore['unknownEvents'];
  /** The end of the log; null if the event store does not answer in time. */
  readonly lastPosition: () => Promise<number | null>;
  readonly projectionStatus: () => Promise<ReadonlyArray<ProjectionStatus>>;
  /** The lag as this node has seen it. */
  readonly lag: Pick<LagMonitor, 'lagMs' | 'past'>;
  /** The health of targets, as this node's gateway has observed it; null on a node without a gateway. */
  readonly gatewayHealth: () => GatewayHealth | null;
  /** The recorded calls, also those of other nodes. */
  readonly calls: RecordedCalls;
  readonly responses: ResponseAmounts;
  readonly processStatus: () => Promise<ReadonlyArray<ProcessStatus>>;
}

/** A request, its input and the document of the resource in the path. */
export interface Question<Input, Subject extends object>
  extends Omit<Decoded<Input, StoredDocument<Subject>>, 'bodyHash'> {
  /** The time of the request, RFC 3339. */
  readonly time: string;
}

/** The sources of a query, each under its own name. */
export type QuerySources<Read extends string, Service extends keyof QueryServices> = Pick<QueryServices, Service> & {
  readonly read: Readonly<Record<Read, CollectionReader>>;
};

/** An answer that is not JSON, in one of the query's media types. */
export interface StreamedAnswer {
  readonly stream: TextStream;
}

// biome-ignore lint/suspicious/noExplicitAny: the check works on states of every entity.
type AnyEntity = Entity<any, any>;

/** A subject that is read from a read model. */
export interface DocumentSubject {
  readonly collection: { readonly name: string };
  readonly parameter: string;
  readonly notFound: FailureCode;
  /**
   * Set if the input has a member `asOf`. A request can then name a deleted resource, so the stream decides whether it
   * ever existed.
   */
  readonly past?: AnyEntity;
}

/** A subject that is read from its stream, deleted or not. The question's `subject` has only its id. */
export interface StreamSubject {
  readonly entity: AnyEntity;
  readonly parameter: string;
  /** The codec of the id. Default a cuid. */
  readonly idCodec?: t.Mixed;
  readonly notFound: FailureCode;
}

type Answered<Output> = E.Either<Failure, QueryAnswer<Output> | StreamedAnswer>;

/** A query of read models, or of streams if it is about the past. */
export interface Query<
  Input extends object,
  Subject extends Tenant,
  Output,
  Read extends string = never,
  Service extends keyof QueryServices = never,
> {
  readonly about: OperationAbout;
  readonly http: HttpRoute;
  /** `subject` is the resource in the path, to which the key needs access; null if the answer itself depends on it. */
  readonly access: OperationAccess<(DocumentSubject | StreamSubject) | null>;
  /** The plane whose form of errors the query uses. Default `control`. */
  readonly plane?: Plane;
  /** Nodes of the other plane answer it too. */
  readonly onBothPlanes?: true;
  readonly input: t.Type<Input, unknown, unknown>;
  /** Null if the answer is bytes: see `content-query.ts`. */
  readonly output: t.Type<Output, unknown, unknown> | null;
  readonly failures: ReadonlyArray<FailureCode>;
  /**
   * The collections in addition to its subject's, by their names in `read`. It can read no others.
   * `Switchyard-Min-Position` waits for these projections and the subject's.
   */
  readonly reads: Readonly<Record<Read, ReadCollection>>;
  /** Default: none. */
  readonly services?: ReadonlyArray<Service>;
  /** Media types in addition to JSON: see `acceptedType`. */
  readonly produces?: ReadonlyArray<string>;
  /** It answers pages: `limit` and `cursor` belong to its input. */
  readonly paged?: boolean;
  /** It reads many documents, as pages and exports do, so that a node answers only some at the same time. */
  readonly readsMany?: true;
  /** The answer is one resource with an ETag. */
  readonly hasRevision?: boolean;
  /** Parts of the answer may change without the ETag. `If-None-Match` is then ignored. */
  readonly changesWithinRevision?: true;
  readonly answer: (
    question: Question<Input, Subject>,
    sources: QuerySources<Read, Service>,
  ) => Promise<Answered<Output>> | Answered<Output>;
}

// biome-ignore lint/suspicious/noExplicitAny: the table holds queries of every shape; each stays typed where it is made.
export type AnyQuery = Query<any, any, any, any, keyof QueryServices>;

export function query<
  Input extends object,
  Subject extends Tenant,
  Output,
  Read extends string = never,
  Service extends keyof QueryServices = never,
>(definition: Query<Input, Subject, Output, Read, Service>): Query<Input, Subject, Output, Read, Service> {
  return definition;
}
