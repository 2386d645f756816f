import type { RecordedCall } from '#domain/usage/recorded-call.ts';
import type { PageKey } from '#read-store/read-store.ts';

/** Which calls a list has. */
export interface CallFilter {
  readonly model?: string | undefined;
  readonly outcome?: string | undefined;
  readonly keyId?: string | undefined;
  /** The first time, RFC 3339. */
  readonly from?: string | undefined;
  /** The time after the last one, RFC 3339. */
  readonly until?: string | undefined;
}

/** The requested page of a list of calls. */
export interface CallPageRequest {
  readonly limit: number;
  /** The most bytes of the calls, but for the first one. */
  readonly maxBytes: number;
  /** The last place of the page before; null for the first page. */
  readonly after: PageKey | null;
}

/** A page of calls, newest first. */
export interface CallPage {
  readonly calls: ReadonlyArray<RecordedCall>;
  /** The place after which the next page begins; null at the end. */
  readonly next: PageKey | null;
}

/** The records of the gateway's calls, as queries read them on any node. Every target has its name. */
export interface RecordedCalls {
  /** The newest calls of a project with a request id, which a client may use again. @throws UnavailableError */
  readonly ofRequest: (projectId: string, requestId: string, limit: number) => Promise<ReadonlyArray<RecordedCall>>;
  /** The calls of a project. @throws UnavailableError */
  readonly page: (projectId: string, filter: CallFilter, request: CallPageRequest) => Promise<CallPage>;
}
