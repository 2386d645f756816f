import type { RecordedCall } from '#domain/usage/recorded-call.ts';
import type { PageKey } from '#read-store/read-store.ts';

export interface CallFilter {
  readonly model?: string | undefined;
  readonly outcome?: string | undefined;
  readonly keyId?: string | undefined;
  /** The first time, RFC 3339. */
  readonly from?: string | undefined;
  /** The time after the last one, RFC 3339. */
  readonly until?: string | undefined;
}

export interface CallPageRequest {
  readonly limit: number;
  /** Maximum size, except that the first call always fits. */
  readonly maxBytes: number;
  /** The place where the page before ended; null for the first page. */
  readonly after: PageKey | null;
}

/** A page of calls, newest first. */
export interface CallPage {
  readonly calls: ReadonlyArray<RecordedCall>;
  /** Null at the end. */
  readonly next: PageKey | null;
}

/** The recorded calls as queries read them on any node. Every target has its name. */
export interface RecordedCalls {
  /** The newest calls of the request. A client may use a request id again. @throws UnavailableError */
  readonly ofRequest: (projectId: string, requestId: string, limit: number) => Promise<ReadonlyArray<RecordedCall>>;
  /** @throws UnavailableError */
  readonly page: (projectId: string, filter: CallFilter, request: CallPageRequest) => Promise<CallPage>;
}
