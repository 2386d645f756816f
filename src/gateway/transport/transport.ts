import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';

/** A body too large for memory: it can be read as often as it must be sent. */
export interface StoredBody {
  readonly bytes: number;
  readonly open: () => Readable;
}

/** A call to a provider. */
export interface UpstreamRequest {
  /** With its query. */
  readonly path: string;
  /** Names and values in turn; without length and host. */
  readonly headers: ReadonlyArray<string>;
  readonly body: Buffer | StoredBody;
  /** Whether the answer takes long: such calls have connections of their own. */
  readonly streams: boolean;
}

/** Receives the events of a call; none after `onEnd`, `onError` or an abort. */
export interface UpstreamListener {
  /** There is a connection and the request is sent; again for each further piece of a stored body. */
  readonly onSent: () => void;
  readonly onHeaders: (status: number, headers: IncomingHttpHeaders) => void;
  readonly onData: (chunk: Buffer) => void;
  readonly onEnd: () => void;
  /** The call failed below HTTP. */
  readonly onError: (error: Error) => void;
}

/** A call under way. */
export interface UpstreamCall {
  /** Ends it at once, in whatever phase; its connection is closed. */
  readonly abort: () => void;
  /** No data comes until `resume`. */
  readonly pause: () => void;
  readonly resume: () => void;
}

/** What reaches a provider. */
export interface Transport {
  readonly call: (request: UpstreamRequest, listener: UpstreamListener) => UpstreamCall;
  /** Takes no more calls, lets running ones end, closes its connections. */
  readonly close: () => Promise<void>;
}
