import type { Caller } from '#domain/shared/access.ts';
import type { Failure, InputError } from '#domain/shared/failure.ts';
import type { TextStream } from '#exchange/client.ts';
import type { EncodedJson } from '#shared/json/encoded-json.ts';
import type { Json, JsonObject } from '#shared/json/json.ts';

/** The members of a request that are not in its path. */
export interface RequestInput {
  readonly fields: JsonObject;
  /** The unknown parts of the request, if it prefers that they are refused. */
  readonly unknown?: ReadonlyArray<InputError>;
  /** Whether the request prefers strict handling. */
  readonly isStrict?: boolean;
  /** SHA-256 (hex) of the body's bytes, for `Idempotency-Key`. */
  readonly bodyHash: string;
  /** The body's length. */
  readonly bytes?: number;
}

/** The headers and options of a request. */
export interface RequestHeaders {
  /** The revision in `If-Match`; null without one or with `*`. */
  readonly ifMatch: number | null;
  readonly idempotencyKey: string | null;
  /** `Switchyard-Min-Position`. */
  readonly minPosition: number | null;
  /** A dry run: the command decides and answers, without any effect. */
  readonly dryRun?: boolean;
  /** `Switchyard-On-Behalf-Of`; absent without one. */
  readonly onBehalfOf?: string;
  /** `Accept`; absent without one. */
  readonly accept?: string;
  /** Why one of these is invalid; its member is null then. */
  readonly fault: Failure | null;
}

/** A request of a known caller. */
export interface OperationRequest extends Omit<RequestHeaders, 'fault'> {
  readonly caller: Caller;
  readonly requestId: string;
  /** Path parameters by name, decoded. */
  readonly parameters: Readonly<Record<string, string>>;
  /** Method and path as requested, for `Idempotency-Key`: `POST /v1/flows/c…/versions`. */
  readonly requestTarget: string;
  /** The most bytes of a list's page, if the caller wants less than the usual limit. */
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
  /** The content that replaces a JSON body. */
  readonly stream?: TextStream;
  /** For the ETag. */
  readonly revision?: number;
  /** For `Switchyard-Position`. */
  readonly position?: number;
  /** Whether it repeats the answer to an earlier request with the same key: for `Idempotency-Replayed`. */
  readonly isReplay?: true;
  /** For `Link: rel="next"`: the cursor that `nextCursor` in the body holds. */
  readonly nextCursor?: string;
}
