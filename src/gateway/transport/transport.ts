import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';

/** A body that is too large for memory. It can be read again for each attempt. */
export interface StoredBody {
  readonly bytes: number;
  readonly open: () => Readable;
}

/** A call to a provider. */
export interface UpstreamRequest {
  /** The path with its query. */
  readonly path: string;
  /** Names and values in turn; without length and host. */
  readonly headers: ReadonlyArray<string>;
  readonly body: Buffer | StoredBody;
  /** Whether the answer takes long. Such calls have separate connections. */
  readonly streams: boolean;
}

/** Receives the events of a call. No event follows `onEnd`, `onError` or an abort. */
export interface UpstreamListener {
  /** The request is sent on a connection. Called again for each further piece of a stored body. */
  readonly onSent: () => void;
  readonly onHeaders: (status: number, headers: IncomingHttpHeaders) => void;
  readonly onData: (chunk: Buffer) => void;
  readonly onEnd: () => void;
  /** The call failed below HTTP. */
  readonly onError: (error: Error) => void;
}

/** A running call. */
export interface UpstreamCall {
  /** Ends it at once in any phase, and closes its connection. */
  readonly abort: () => void;
  /** Stops the data until `resume`. */
  readonly pause: () => void;
  readonly resume: () => void;
}

/** Sends calls to a provider. */
export interface Transport {
  readonly call: (request: UpstreamRequest, listener: UpstreamListener) => UpstreamCall;
  /** Refuses further calls, waits for the running ones, and closes its connections. */
  readonly close: () => Promise<void>;
}
