import type { CallRecord } from '#gateway/relay/call-record.ts';
import type { GatewayService } from '#test/gateway/support/gateway-service.ts';

/** Samples of a protocol in which clients ask for texts, and in which providers give them. */
export interface TextProtocol {
  readonly name: string;
  readonly path: string;
  /** The operation in the record of a call, and in the log. */
  readonly operation: CallRecord['operation'];
  readonly loggedOperation: string;
  readonly client: ClientSamples;
  readonly provider: ProviderSamples;
}

/** What clients send and read. */
export interface ClientSamples {
  /** A request that every target can answer, without its model. */
  readonly ask: object;
  /** Members of a request whose answer passes as it came. */
  readonly unchanged: object;
  /** The text of a request that a target of the same protocol gets with each of these bytes, except for the model. */
  readonly oddRequest: (model: string) => string;
  /** A query that a target of the same protocol gets; empty where it gets none. */
  readonly query: string;
  /** Headers that a target of the same protocol gets, and others that it does not get. */
  readonly headers: Readonly<Record<string, string>>;
  readonly droppedHeaders: Readonly<Record<string, string>>;
  /** Requests that no provider is asked for. */
  readonly refused: ReadonlyArray<RefusedRequest>;
  /** What the errors say of a body of too many bytes, and of too many values in its member `extra`. */
  readonly tooManyBytes: RegExp;
  readonly tooManyValues: { readonly status: number; readonly says: RegExp };
  /** Whether another target can continue a broken stream. */
  readonly isContinuable: boolean;
  /** The header with the id of the request. */
  readonly requestIdHeader: string;
  /** Checks the members of an error. */
  readonly errorOf: (body: unknown, headers: Headers) => ReportedError;
  readonly textOf: (body: unknown) => string;
  /** Checks the order and the names of the events. */
  readonly readStream: (body: string) => ReadStream;
  /** Whether an error in a stream has a code. */
  readonly hasErrorCodes: boolean;
  /** Checks what else a stream leaves. */
  readonly examine?: (service: GatewayService, stream: string) => Promise<void>;
}

export interface RefusedRequest {
  readonly what: string;
  readonly body: unknown;
  readonly status: number;
  /** What the error says, as JSON. */
  readonly says: RegExp;
}

export interface ReportedError {
  readonly type: string;
  readonly message: string;
}

/** A stream as its client reads it. */
export interface ReadStream {
  readonly text: string;
  readonly error: { readonly message: string; readonly code?: string | null } | null;
  /** Whether it ends like a complete answer. */
  readonly isComplete: boolean;
}

/** What providers send. Each answer reports 5 tokens of the request and 7 of the answer. */
export interface ProviderSamples {
  /** The members of the provider in the configuration, without its address. */
  readonly settings: object;
  /** Where it is asked. */
  readonly path: string;
  /** The header with its key. */
  readonly key: readonly [string, string];
  readonly answer: (text: string) => object;
  /** The text of an answer that a client of the same protocol gets with each of these bytes. */
  readonly oddAnswer: string;
  /** A refusal, or what it sends with the status 200 when it fails. */
  readonly error: (message: string) => object;
  /** The events of a stream, which have the text in two pieces. */
  readonly events: (text: string) => ReadonlyArray<string>;
  /** The number of events before the first content. */
  readonly eventsBeforeContent: number;
  /** An event that no release knows yet, or a comment. */
  readonly oddEvent: string;
  readonly ping: string;
  readonly errorEvent: FailingEvent;
  /** What ends a stream, without the finish of the answer. */
  readonly endMark: FailingEvent;
  /** Whether a stream is complete without its last event. */
  readonly endsWithoutMark: boolean;
}

/** An event with which a stream fails. */
export interface FailingEvent {
  readonly event: string;
  /** The reason in the record of the call. */
  readonly reason: string;
  /** The code of the error in the client's stream. */
  readonly code: string | null;
}
