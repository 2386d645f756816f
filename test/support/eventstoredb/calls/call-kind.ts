import type { ReadReq } from '@eventstore/db-client/generated/streams_pb.js';

/** `stream` and `log` are reads that end; `log-end` reads the log backwards. */
export type CallKind = 'append' | 'stream' | 'log' | 'log-end' | 'subscription' | 'other';

/** A count of no calls. */
export function noCalls(): Record<CallKind, number> {
  return { append: 0, stream: 0, log: 0, 'log-end': 0, subscription: 0, other: 0 };
}

/** Which kind of call a read is. */
export function kindOfRead(request: ReadReq): CallKind {
  const options = request.getOptions();
  if (options?.hasSubscription() === true) return 'subscription';
  if (options?.hasStream() === true) return 'stream';
  return options?.getReadDirection() === 1 ? 'log-end' : 'log';
}
