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
  readonly page: (
    projectId: string,
    filter: CallFilter,
    page: { readonly limit: number; readonly after: PageKey | null },
  ) => Promise<CallPage>;
}
