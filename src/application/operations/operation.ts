import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type * as E from 'fp-ts/lib/Either.js';
import type * as t from 'io-ts';
import type { Scope } from '#domain/shared/access.ts';
import type { Failure, FailureCode, InputError } from '#domain/shared/failure.ts';
import type { RequestInput } from '#exchange/body.ts';
import type { ErrorForm } from '#exchange/error-form.ts';
import type { Plane } from '#exchange/problem.ts';
import type { Authorised } from '#exchange/request.ts';
import type { Json, JsonObject } from '#shared/json/json.ts';
import type { Asked, Decoded, OperationResult } from './operation-request.ts';

export type HttpMethod = 'get' | 'post' | 'put' | 'patch' | 'delete';

export interface HttpRoute {
  readonly method: HttpMethod;
  /** The path, with `:name` for each path parameter; every path parameter is an id or a name that `input` declares. */
  readonly path: string;
  /** The status of a successful answer. */
  readonly status: 200 | 201 | 204;
}

/**
 * One operation of Switchyard, as every caller (REST, OpenAPI, MCP, command line) sees it. `input` is flat:
 * path parameters, query parameters and body members by name. `invoke` calls `loadSubject`, then `execute`.
 */
// biome-ignore lint/suspicious/noExplicitAny: only the operation knows its subject; its callers pass it through.
export interface Operation<Subject = any> {
  /** `verb_noun`, at most 64 characters: the MCP tool's name and OpenAPI's operationId. */
  readonly name: string;
  readonly summary: string;
  readonly description?: string;
  readonly kind: 'command' | 'query';
  readonly plane: Plane;
  /** Whether nodes of the other plane answer it too. */
  readonly onBothPlanes?: boolean;
  /** Its heading in the documentation. */
  readonly group: string;
  readonly http: HttpRoute;
  /** Null if every valid key may call it. */
  readonly scope: Scope | null;
  /** A second scope that the key needs. */
  readonly alsoScope?: Scope;
  readonly input: t.Mixed;
  /** Faults of a request that prefers strict handling, although the contract accepts it. */
  // biome-ignore lint/suspicious/noExplicitAny: each operation has an input of its own.
  readonly strictFaults?: (input: any) => ReadonlyArray<InputError>;
  /** Null if there is no content. */
  readonly output: t.Mixed | null;
  /** The failures of the operation, without those that every operation has. */
  readonly failures: ReadonlyArray<FailureCode>;
  /** Media types in addition to JSON, if `Accept` asks for them. */
  readonly produces?: ReadonlyArray<string>;
  /** Answers a page of a list: takes `limit` and `cursor`, gives `nextCursor`. */
  readonly paged: boolean;
  /** The answer is one resource with a revision: it carries an ETag, and a command takes If-Match. */
  readonly hasRevision: boolean;
  /** The form of errors, by the headers of a request; if it is missing: OpenAI's on the gateway. */
  readonly errorForm?: (headers: IncomingHttpHeaders) => ErrorForm;
  /** Set if the HTTP method does not show the effect. */
  readonly effect?: OperationEffect;
  /** The ETag changes with every member of its answer, so `If-None-Match` may be answered with 304. */
  readonly isConditional?: boolean;
  /** A realistic body (members of `input` that are not path parameters) and answer. */
  readonly example: { readonly input?: JsonObject; readonly output?: Json };
  /**
   * Checks access. A query first waits for `Switchyard-Min-Position`.
   * @returns the resource, or why the key cannot access it.
   * @throws UnavailableError
   */
  readonly loadSubject: (request: Asked) => Promise<E.Either<Failure, Subject>>;
  /** Rejects only with `UnavailableError` or a bug. */
  readonly execute: (request: Decoded<unknown, Subject>) => Promise<E.Either<Failure, OperationResult>>;
}

/** An operation that writes its answer itself, while the answer arrives from elsewhere. */
export interface StreamingOperation extends Omit<Operation, 'kind' | 'loadSubject' | 'execute'> {
  readonly kind: 'streaming';
  readonly consumes: 'application/json' | 'multipart/form-data';
  /** Media types in addition to JSON. */
  readonly produces: ReadonlyArray<string>;
  /** Resolves when it has written everything; rejects only with `ClientDisconnectedError` or a bug. */
  readonly relay: (request: Authorised) => Promise<StreamReport>;
}

/** The report for logs and metrics: the operation has written the answer. */
export interface StreamReport {
  readonly kind: 'relayed';
  /** Null if it is the status that was sent. */
  readonly status: number | null;
  /** `provider_timeout`, … Null for a complete answer. */
  readonly code: string | null;
  /** The entry in the catalogue; null if the request found none. */
  readonly model: string | null;
  /** `provider/model` of the last attempt; null without an attempt. */
  readonly target: string | null;
  readonly attempts: number;
}

export interface ReceivedUpload {
  readonly input: Pick<RequestInput, 'fields' | 'bodyHash'>;
  /** Removes the stored bytes if the result does not use them. */
  readonly settle: (outcome: E.Either<Failure, OperationResult>) => Promise<void>;
  /** Called once at the end, in every case. */
  readonly release: () => void;
}

/** The body is streamed to the blob store, and then the command decides on the facts about the stored file. */
// biome-ignore lint/suspicious/noExplicitAny: only the operation knows its subject; its callers pass it through.
export interface UploadOperation<Subject = any> extends Omit<Operation<Subject>, 'kind'> {
  readonly kind: 'upload';
  readonly consumes: 'multipart/form-data';
  /** @returns the upload, or why it was refused: then nothing is stored; @throws ClientDisconnectedError */
  readonly receive: (request: Authorised) => Promise<E.Either<Failure, ReceivedUpload>>;
}

/** Content that is sent whole or in part. */
export interface Download {
  readonly kind: 'download';
  readonly contentType: string;
  readonly filename: string;
  /** Identifies the content: equal for equal bytes. Without quotes. */
  readonly etag: string;
  readonly bytes: number;
  /**
   * Opens the content from `start` to `end` (excluded). @returns null if it does not exist any more @throws
   * UnavailableError
   */
  readonly open: (start: number, end: number) => Promise<Readable | null>;
}

/** An operation whose answer is bytes. */
// biome-ignore lint/suspicious/noExplicitAny: only the operation knows its subject; its callers pass it through.
export interface DownloadOperation<Subject = any> extends Omit<Operation<Subject>, 'kind' | 'execute'> {
  readonly kind: 'download';
  readonly produces: ReadonlyArray<string>;
  /** Rejects only with `UnavailableError` or a bug. */
  readonly execute: (request: Decoded<unknown, Subject>) => Promise<E.Either<Failure, Download>>;
}

export type AnyOperation = Operation | StreamingOperation | UploadOperation | DownloadOperation;

export type OperationAbout = Pick<Operation, 'name' | 'summary' | 'description' | 'group' | 'effect' | 'example'>;

export interface OperationAccess<Subject, Needed extends Scope | null = Scope | null>
  extends Pick<Operation, 'alsoScope'> {
  /** The scope that the key needs; null if every valid key may call it. */
  readonly scope: Needed;
  readonly subject: Subject;
}

interface OperationDefinition extends Pick<Operation, 'http' | 'input' | 'strictFaults' | 'output' | 'failures'> {
  readonly about: OperationAbout;
  readonly access: Pick<OperationAccess<unknown>, 'scope' | 'alsoScope'>;
  readonly plane?: Plane;
}

type DescribedOperation = OperationAbout &
  Pick<Operation, 'http' | 'scope' | 'alsoScope' | 'input' | 'strictFaults' | 'output' | 'failures' | 'plane'>;

/** Leaves out what is not about the operation itself. */
export function describeOperation(definition: OperationDefinition): DescribedOperation {
  const { about, http, access, input, strictFaults, output, failures, plane = 'control' } = definition;
  const { scope, alsoScope } = access;
  return {
    ...about,
    http,
    scope,
    ...(alsoScope === undefined ? {} : { alsoScope }),
    input,
    ...(strictFaults === undefined ? {} : { strictFaults }),
    output,
    failures,
    plane,
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

export function takesBody({ http }: AnyOperation): boolean {
  return http.method === 'post' || http.method === 'put' || http.method === 'patch';
}

/** True for operations that append events. */
export function isWriting({ kind }: AnyOperation): boolean {
  return kind === 'command' || kind === 'upload';
}

export function bodyType(operation: AnyOperation): string | null {
  if (!takesBody(operation)) return null;
  return 'consumes' in operation ? operation.consumes : 'application/json';
}

/** The provider's part of the interface may differ. */
export function asksProvider(operation: AnyOperation): boolean {
  return operation.kind === 'streaming' && takesBody(operation);
}

/** What an operation does, if its HTTP method does not show it: see `effectOf`. */
export interface OperationEffect {
  /** It loses something, or cannot be undone. */
  readonly isDestructive?: boolean;
  /** A repetition with the same input changes nothing more. */
  readonly isIdempotent?: boolean;
}

interface DescribedEffect {
  readonly kind: 'command' | 'query' | 'streaming' | 'upload' | 'download';
  readonly http: { readonly method: string };
  readonly effect?: OperationEffect;
}

/**
 * If the operation does not name it, its HTTP method decides: a query changes nothing, DELETE loses something, and PUT,
 * PATCH and DELETE may be repeated.
 */
export function effectOf({ kind, http, effect = {} }: DescribedEffect) {
  const isReadOnly = kind === 'query' || kind === 'download';
  return {
    isReadOnly,
    isDestructive: !isReadOnly && (effect.isDestructive ?? http.method === 'delete'),
    isIdempotent: isReadOnly || (effect.isIdempotent ?? http.method !== 'post'),
  };
}
