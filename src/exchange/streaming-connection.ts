import type { IncomingHttpHeaders } from 'node:http';
import type { BodySource } from './body-source.ts';
import type { ByteReservation } from './byte-budget.ts';
import type { ResponseSink } from './response-sink.ts';

/** The connection from which a streaming operation reads its request, and to which it writes its response. */
export interface StreamingConnection {
  /** Headers of the request, by lower-case name. */
  readonly headers: IncomingHttpHeaders;
  /** The query string without its question mark; empty without a query. */
  readonly query: string;
  readonly body: BodySource;
  /** Counts the bytes of its body; released when the request is answered. */
  readonly bodyHold: ByteReservation;
  /** Counts the bytes of an answer that is held until it is whole; released when the request is answered. */
  readonly answerHold: ByteReservation;
  readonly response: ResponseSink;
}
