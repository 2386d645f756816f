import type { TextStream } from '#exchange/client.ts';
import type { Authorised } from '#exchange/request.ts';
import type { EncodedJson, Json } from '#shared/json/json.ts';
import type { RequestHeaders } from './request-headers.ts';

/** What a known caller asks for in addition to the input. */
export type Asked = Authorised & Omit<RequestHeaders, 'fault'>;

/** A request whose key can access the subject and has the scope, and whose input is valid. */
export interface Decoded<Input, Subject> {
  readonly request: Asked;
  readonly subject: Subject;
  /** The input as the operation's `input` decodes it. */
  readonly input: Input;
  /** SHA-256 (hex) of the body's bytes and the query, for `Idempotency-Key`. */
  readonly bodyHash: string;
}

export interface OperationResult {
  readonly status: 200 | 201 | 204;
  /** The body of the answer; undefined for no content. */
  readonly body: Json | EncodedJson | undefined;
  /** Replaces a JSON body. */
  readonly stream?: TextStream;
  /** The revision for the ETag. */
  readonly revision?: number;
  /** The position for `Switchyard-Position`. */
  readonly position?: number;
  /** Set if this repeats the answer to an earlier request with the same key: for `Idempotency-Replayed`. */
  readonly isReplay?: true;
  /** The cursor for `Link: rel="next"`, which `nextCursor` in the body holds. */
  readonly nextCursor?: string;
}
