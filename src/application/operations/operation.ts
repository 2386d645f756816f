import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type * as E from 'fp-ts/lib/Either.js';
import type * as t from 'io-ts';
import type { ByteHold } from '#application/access/byte-budget.ts';
import type { BodySource } from '#application/bodies/body-source.ts';
import type { ResponseSink } from '#application/responses/response-sink.ts';
import type { TextStream } from '#application/responses/text-stream.ts';
import type { Failure, FailureCode } from '#domain/shared/failure.ts';
import type { Scope } from '#domain/shared/scope.ts';
import type { Caller } from '#domain/shared/tenancy.ts';
import type { EncodedJson } from '#shared/json/encoded-json.ts';
import type { Json, JsonObject } from '#shared/json/json.ts';

export type HttpMethod = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** How an operation is reached over HTTP. */
export interface HttpRoute {
  readonly method: HttpMethod;
  /** With `:name` for each path parameter; every path parameter is an id or a name that `input` declares. */
  readonly path: string;
  /** The status of success. */
  readonly status: 200 | 201 | 204;
}

/** What an operation does besides its answer, where its HTTP method does not say it: see `effectOf`. */
export interface OperationEffect {
  /** Something is lost by it, or cannot be undone. */
  readonly isDestructive?: boolean;
  /** Done again with the same input, it changes nothing more. */
  readonly isIdempotent?: boolean;
}

/**
 * The plane decides the shape of errors (problem details for control, OpenAI's for the gateway), and which nodes
 * answer: those
 * with the role `control-plane`, or `gateway`.
 */
export type Plane = 'control' | 'gateway';

/**
 * One thing that Switchyard can be asked, as every caller (REST, OpenAPI, MCP, command line) sees it. `input` is flat:
 * path parameters, query parameters and body members by name. `invoke` calls `loadSubject`, then `execute`.
 */
// biome-ignore lint/suspicious/noExplicitAny: only the operation knows its subject; whoever calls it passes it through.
export interface Operation<Subject = any> {
  /** `verb_noun`, at most 64 characters: the MCP tool's name and OpenAPI's operationId. */
  readonly name: string;
  readonly summary: string;
  readonly description?: string;
  readonly kind: 'command' | 'query';
  readonly plane: Plane;
  /** Nodes of the other plane answer it too. */
  readonly onBothPlanes?: boolean;
  /** The heading under which documentation lists it. */
  readonly group: string;
  readonly http: HttpRoute;
  /** The scope a key needs; null when any valid key may. */
  readonly scope: Scope | null;
  /** A scope that the key needs besides. */
  readonly alsoScope?: Scope;
  readonly input: t.Mixed;
  /** Null when there is no content. */
  readonly output: t.Mixed | null;
  /** The failures of its own; those that every operation has are not listed. */
  readonly failures: ReadonlyArray<FailureCode>;
  /** What else than JSON it may answer, where `Accept` asks for it. */
  readonly produces?: ReadonlyArray<string>;
  /** Answers a page of a list: takes `limit` and `cursor`, gives `nextCursor`. */
  readonly paged: boolean;
  /** The answer is one resource with a revision: it carries an ETag, and a command takes If-Match. */
  readonly hasRevision: boolean;
  /** What it does besides its answer, where its HTTP method does not say it. */
  readonly effect?: OperationEffect;
  /** The ETag of its answer moves with everything in it: `If-None-Match` may be answered with 304. */
  readonly isConditional?: boolean;
  /** A believable body (members of `input` that are no path parameter) and answer. */
  readonly example: { readonly input?: JsonObject; readonly output?: Json };
  /**
   * Loads what the path names, and judges reach. A query first waits for `Switchyard-Min-Position`.
   * @returns it, or why the key cannot access it. @throws UnavailableError
   */
  readonly loadSubject: (request: OperationRequest) => Promise<E.Either<Failure, Subject>>;
  /** Does the rest of what is asked. Rejects only with `UnavailableError` or a bug. */
  readonly execute: (request: ValidRequest<Subject>) => Promise<E.Either<Failure, OperationResult>>;
}

/** What a streaming operation reads its request from and writes its response to. */
export interface RelayConnection {
  /** Of the request, by lower-case name. */
  readonly headers: IncomingHttpHeaders;
  /** What follows the path's question mark; empty without one. */
  readonly query: string;
  readonly body: BodySource;
  /** Counts the bytes of its body; released when the request is answered. */
  readonly bodyHold: ByteHold;
  readonly response: ResponseSink;
}

/** A request whose key is good, to be answered on its connection. */
export interface StreamingRequest extends RelayConnection {
  /** Path parameters by name, decoded. */
  readonly parameters: Readonly<Record<string, string>>;
  /** Who asks: the key's own ids, and whose they are. */
  readonly caller: Caller;
  readonly requestId: string;
}

/** An operation that writes its answer itself, as it comes from elsewhere. */
export interface StreamingOperation extends Omit<Operation, 'kind' | 'loadSubject' | 'execute'> {
  readonly kind: 'relay';
  /** What its body is. */
  readonly consumes: 'application/json' | 'multipart/form-data';
  /** What else than JSON it may answer. */
  readonly produces: ReadonlyArray<string>;
  /**
   * Answers a request. Resolves when nothing more will be written; rejects only with `ClientDisconnectedError` or a
   * bug.
   */
  readonly relay: (request: StreamingRequest) => Promise<RelayReport>;
}

/** What became of a relayed request, for logs and metrics: its answer was written already. */
export interface RelayReport {
  readonly kind: 'relayed';
  /** The status that says what became of it, where the one that was sent does not; null where it does. */
  readonly status: number | null;
  /** Why it has no whole answer, as the client read it: `provider_timeout`, … Null where it has one. */
  readonly code: string | null;
  /** The catalogue's entry; null where the request came to none. */
  readonly model: string | null;
  /** `provider/model` of the last attempt; null without any. */
  readonly target: string | null;
  readonly attempts: number;
}

/** What an upload is received from. */
export interface UploadSource extends Pick<RelayConnection, 'headers' | 'body' | 'bodyHold'> {
  readonly caller: Caller;
}

/** An upload that was stored where the operation keeps it, and the input that is made of it. */
export interface ReceivedUpload {
  readonly input: RequestInput;
  /** Says what came of the request: what was stored and is not used is removed. */
  readonly settle: (outcome: E.Either<Failure, OperationResult>) => Promise<void>;
  /** Nothing more is asked of it. Called once, whatever happens. */
  readonly release: () => void;
}

/**
 * A command whose input is a file: the body is streamed to where the file is kept, and the command decides on what is
 * known of it then.
 */
// biome-ignore lint/suspicious/noExplicitAny: only the operation knows its subject; whoever calls it passes it through.
export interface UploadOperation<Subject = any> extends Omit<Operation<Subject>, 'kind'> {
  readonly kind: 'upload';
  readonly consumes: 'multipart/form-data';
  /** Streams a body to its destination. @returns why not all of it was taken: then nothing is left of it. @throws ClientDisconnectedError */
  readonly receive: (source: UploadSource) => Promise<E.Either<Failure, ReceivedUpload>>;
}

/** Bytes that answer a request, whole or in part. */
export interface Download {
  readonly kind: 'download';
  readonly contentType: string;
  readonly filename: string;
  /** Says which content it is: the same for the same bytes. Without quotes. */
  readonly etag: string;
  readonly bytes: number;
  /** Opens a part of it: from `start` up to but without `end`. @returns null where it is gone @throws UnavailableError */
  readonly open: (start: number, end: number) => Promise<Readable | null>;
}

/** A query whose answer is bytes. */
// biome-ignore lint/suspicious/noExplicitAny: only the operation knows its subject; whoever calls it passes it through.
export interface DownloadOperation<Subject = any> extends Omit<Operation<Subject>, 'kind' | 'execute'> {
  readonly kind: 'download';
  /** The media types that it may answer. */
  readonly produces: ReadonlyArray<string>;
  /** Finds what is asked for. Rejects only with `UnavailableError` or a bug. */
  readonly execute: (request: ValidRequest<Subject>) => Promise<E.Either<Failure, Download>>;
}

export type AnyOperation = Operation | StreamingOperation | UploadOperation | DownloadOperation;

/** The members of a request that are not in its path. */
export interface RequestInput {
  readonly fields: JsonObject;
  /** SHA-256 (hex) of the body's bytes, for `Idempotency-Key`. */
  readonly bodyHash: string;
  /** The body's length. */
  readonly bytes?: number;
}

/** What a request says beside its path and body. */
export interface RequestHeaders {
  /** The revision in `If-Match`; null without one or with `*`. */
  readonly ifMatch: number | null;
  readonly idempotencyKey: string | null;
  /** `Switchyard-Min-Position`. */
  readonly minPosition: number | null;
  /** A command is to be tried alone: decided and answered, without any effect. */
  readonly dryRun?: boolean;
  /** `Accept`; absent without one. */
  readonly accept?: string;
  /** Why one of them cannot be taken; that one is null then. */
  readonly fault: Failure | null;
}

/** A request of a caller who is known. */
export interface OperationRequest extends Omit<RequestHeaders, 'fault'> {
  readonly caller: Caller;
  readonly requestId: string;
  /** Path parameters by name, decoded. */
  readonly parameters: Readonly<Record<string, string>>;
  /** Method and path as requested, for `Idempotency-Key`: `POST /v1/flows/c…/versions`. */
  readonly requestTarget: string;
  /** Bytes of a list's page at most, where the caller takes less than usual. */
  readonly maxPageBytes?: number;
}

/** A request whose key can access its subject and has the scope, and whose input is valid. */
export interface ValidRequest<Subject> {
  readonly request: OperationRequest;
  readonly subject: Subject;
  /** As the operation's `input` decodes it. */
  readonly input: unknown;
  /** SHA-256 (hex) of the body's bytes and the query, for `Idempotency-Key`. */
  readonly bodyHash: string;
}

/** A success. */
export interface OperationResult {
  readonly status: 200 | 201 | 204;
  /** The JSON value, or its text; undefined for no content. */
  readonly body: Json | EncodedJson | undefined;
  /** What is answered instead of a body. */
  readonly stream?: TextStream;
  /** For the ETag. */
  readonly revision?: number;
  /** For `Switchyard-Position`. */
  readonly position?: number;
  /** It answers an earlier request with the same `Idempotency-Key`: for `Idempotency-Replayed`. */
  readonly isReplay?: true;
  /** For `Link: rel="next"`: the cursor that `nextCursor` in the body holds. */
  readonly nextCursor?: string;
}

/** What a definition and the operation made of it say in the same words. */
type OperationDescriptor = Pick<
  Operation,
  | 'name'
  | 'summary'
  | 'description'
  | 'group'
  | 'http'
  | 'scope'
  | 'alsoScope'
  | 'input'
  | 'output'
  | 'failures'
  | 'effect'
  | 'example'
>;

/** Copies the descriptive members of a definition and nothing else. */
export function describeOperation(definition: OperationDescriptor): OperationDescriptor {
  const { name, summary, description, group, http, scope, input, output, failures, example } = definition;
  const { alsoScope, effect } = definition;
  return {
    ...{ name, summary, group, http, scope, input, output, failures, example },
    ...(description === undefined ? {} : { description }),
    ...(alsoScope === undefined ? {} : { alsoScope }),
    ...(effect === undefined ? {} : { effect }),
  };
}

/**
 * What an operation does besides its answer. Without a word of its own its HTTP method says it: a query changes
 * nothing, DELETE loses something, and PUT, PATCH and DELETE may be repeated.
 */
export function effectOf({ kind, http, effect = {} }: Pick<AnyOperation, 'kind' | 'http' | 'effect'>) {
  const isReadOnly = kind === 'query' || kind === 'download';
  return {
    isReadOnly,
    isDestructive: !isReadOnly && (effect.isDestructive ?? http.method === 'delete'),
    isIdempotent: isReadOnly || (effect.isIdempotent ?? http.method !== 'post'),
  };
}

const line =
  (method: HttpMethod) =>
  (path: string, status: 200 | 201 | 204 = 200): HttpRoute => ({ method, path, status });

export const get = line('get');
export const post = line('post');
export const put = line('put');
export const patch = line('patch');
export const remove = line('delete');
