import type { ReadReq } from '@eventstore/db-client/generated/streams_pb.js';
import { type CallFailure, invalidArgument, thrownByHandler } from '#test/support/eventstoredb/faults/failures.ts';
import { type EventFilter, eventFilter } from './event-filter.ts';
import { streamNameOf, type UuidForm } from './messages.ts';

/** The begin of a read: a revision of a stream, a position of `$all`, or one of the ends. */
export type ReadFrom = bigint | 'start' | 'end';

/** A decoded call of `Read`. */
export interface ReadRequest {
  /** Null for `$all`. */
  readonly stream: string | null;
  readonly from: ReadFrom;
  readonly backwards: boolean;
  /** Null for a subscription. */
  readonly count: bigint | null;
  readonly filter: EventFilter | null;
  readonly resolveLinks: boolean;
  readonly uuids: UuidForm;
  /** Whether the client supports the newer answers, such as the stream's last position. */
  readonly compatible: boolean;
}

/** @returns the request, the failure of the call, or null for a call that a server never answers */
export function readRequest(request: ReadReq): ReadRequest | CallFailure | null {
  const options = request.getOptions();
  if (options === undefined) return thrownByHandler();
  const invalid = invalidOptions(options);
  if (invalid !== null) return invalidArgument(invalid);
  const uuids = options.getUuidOption();
  if (uuids === undefined) return null;
  const streamOptions = options.getStream();
  const stream = streamOptions === undefined ? null : streamNameOf(streamOptions.getStreamIdentifier());
  if (stream === '') return thrownByHandler();
  const filter = filterOf(options);
  if (filter === 'invalid') return thrownByHandler();
  return {
    stream,
    from: streamOptions === undefined ? allFrom(options) : streamFrom(streamOptions),
    backwards: options.getReadDirection() === 1,
    count: options.hasSubscription() ? null : BigInt(options.getCount()),
    filter,
    resolveLinks: options.getResolveLinks(),
    uuids: uuids.hasString() ? 'string' : 'structured',
    compatible: (options.getControlOption()?.getCompatibility() ?? 0) > 0,
  };
}

function invalidOptions(options: ReadReq.Options): string | null {
  if (!options.hasStream() && !options.hasAll())
    return "'None' is not a valid EventStore.Client.Streams.ReadReq+Types+Options+StreamOptionOneofCase";
  const source = options.hasStream() ? 'Stream' : 'All';
  const count = options.hasSubscription() ? 'Subscription' : options.hasCount() ? 'Count' : 'None';
  const direction = options.getReadDirection() === 1 ? 'Backwards' : 'Forwards';
  const filter = options.hasFilter() ? 'Filter' : options.hasNoFilter() ? 'NoFilter' : 'None';
  const valid =
    count !== 'None' &&
    filter !== 'None' &&
    !(count === 'Subscription' && direction === 'Backwards') &&
    !(source === 'Stream' && filter === 'Filter');
  return valid ? null : `The combination of (${source}, ${count}, ${direction}, ${filter}) is invalid.`;
}

function streamFrom(options: ReadReq.Options.StreamOptions): ReadFrom {
  if (options.hasRevision()) return BigInt(options.getRevision());
  return options.hasEnd() ? 'end' : 'start';
}

function allFrom(options: ReadReq.Options): ReadFrom {
  const all = options.getAll();
  const position = all?.getPosition();
  if (position !== undefined) return BigInt(position.getCommitPosition());
  return all?.hasEnd() ? 'end' : 'start';
}

function filterOf(options: ReadReq.Options): EventFilter | null | 'invalid' {
  const filter = options.getFilter();
  if (filter === undefined) return null;
  try {
    return eventFilter(filter);
  } catch {
    return 'invalid';
  }
}
