import shared from '@eventstore/db-client/generated/shared_pb.js';
import type { ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import { type EventToAppend, noStream } from '#event-store/event-store.ts';
import type { RawEvent } from '#event-store/transfer/raw-log.ts';
import type { StreamNames } from './stream-names.ts';

// The client's own methods make these messages of values that they convert to JSON. Ours are texts already, and the
// hashed text must be stored unchanged.

type AppendRequest = InstanceType<typeof streams.AppendReq>;
type ReadRequest = InstanceType<typeof streams.ReadReq>;
type FilterOptions = InstanceType<typeof streams.ReadReq.Options.FilterOptions>;

const empty = new shared.Empty();

/** The code of a client that knows the message with a stream's last revision. */
const withLastRevision = 1;

/** The requests in their order. @param stream its name on the server */
export function appendRequests(
  stream: string,
  expectedRevision: number,
  events: ReadonlyArray<EventToAppend>,
): AppendRequest[] {
  const options = new streams.AppendReq.Options().setStreamIdentifier(streamIdentifier(stream));
  if (expectedRevision === noStream) options.setNoStream(empty);
  else options.setRevision(String(expectedRevision));
  return [new streams.AppendReq().setOptions(options), ...events.map(appendEvent)];
}

function appendEvent({ id, type, data, metadata }: EventToAppend): AppendRequest {
  const message = new streams.AppendReq.ProposedMessage()
    .setId(new shared.UUID().setString(id))
    .setData(Buffer.from(data))
    .setCustomMetadata(Buffer.from(metadata));
  message.getMetadataMap().set('type', type).set('content-type', 'application/json');
  return new streams.AppendReq().setProposedMessage(message);
}

/** Deletes a stream that can be appended to again. @param stream its name on the server */
export function deleteRequest(stream: string, lastRevision: number): InstanceType<typeof streams.DeleteReq> {
  const options = new streams.DeleteReq.Options()
    .setStreamIdentifier(streamIdentifier(stream))
    .setRevision(String(lastRevision));
  return new streams.DeleteReq().setOptions(options);
}

/**
 * Requests events in order, from the revision on, and the revision of the stream's last event.
 * @param stream its name on the server
 */
export function streamRequest(stream: string, fromRevision: number, count: number): ReadRequest {
  const from = new streams.ReadReq.Options.StreamOptions()
    .setStreamIdentifier(streamIdentifier(stream))
    .setRevision(String(fromRevision));
  return readRequest(
    new streams.ReadReq.Options()
      .setStream(from)
      .setCount(String(count))
      .setNoFilter(empty)
      .setReadDirection(0)
      .setControlOption(new streams.ReadReq.Options.ControlOption().setCompatibility(withLastRevision)),
  );
}

/** Requests the limits of the stream. @param stream its name on the server */
export function metadataRequest(stream: string): ReadRequest {
  const last = new streams.ReadReq.Options.StreamOptions()
    .setStreamIdentifier(streamIdentifier(`$$${stream}`))
    .setEnd(empty);
  return readRequest(
    new streams.ReadReq.Options().setStream(last).setCount('1').setNoFilter(empty).setReadDirection(1),
  );
}

const probedStream = 'probe';

/**
 * Requests an event that does not exist: the smallest read that a node answers only if it is the leader and can read.
 */
export function probeRequest(names: StreamNames): ReadRequest {
  return streamRequest(names.onServer(probedStream), 0, 1);
}

/** Requests the last event of any application, with its body. */
export function lastEventRequest(): ReadRequest {
  return readRequest(
    new streams.ReadReq.Options().setAll(allFromEnd()).setCount('1').setNoFilter(empty).setReadDirection(1),
  );
}

export function lastOwnEventRequest(filter: FilterOptions): ReadRequest {
  return readRequest(
    new streams.ReadReq.Options().setAll(allFromEnd()).setCount('1').setFilter(filter).setReadDirection(1),
  );
}

/** Requests events from a position on, including it. */
export function logRequest(from: number, count: number, filter: FilterOptions): ReadRequest {
  return readRequest(
    new streams.ReadReq.Options().setAll(allFrom(from)).setCount(String(count)).setFilter(filter).setReadDirection(0),
  );
}

/** Requests an event of any application. The answer is a later event if there is none at the position. */
export function eventAtRequest(position: number): ReadRequest {
  return readRequest(
    new streams.ReadReq.Options().setAll(allFrom(position)).setCount('1').setNoFilter(empty).setReadDirection(0),
  );
}

/** @param after null for events that are stored from now on */
export function subscriptionRequest(after: number | null, filter: FilterOptions): ReadRequest {
  return readRequest(
    new streams.ReadReq.Options()
      .setAll(after === null ? allFromEnd() : allFrom(after))
      .setSubscription(new streams.ReadReq.Options.SubscriptionOptions())
      .setFilter(filter)
      .setReadDirection(0),
  );
}

function readRequest(options: InstanceType<typeof streams.ReadReq.Options>): ReadRequest {
  const uuids = new streams.ReadReq.Options.UUIDOption().setString(empty);
  return new streams.ReadReq().setOptions(options.setUuidOption(uuids));
}

function allFrom(position: number): InstanceType<typeof streams.ReadReq.Options.AllOptions> {
  const all = new streams.ReadReq.Options.AllOptions();
  if (position === 0) return all.setStart(empty);
  const commit = String(position);
  return all.setPosition(new streams.ReadReq.Options.Position().setCommitPosition(commit).setPreparePosition(commit));
}

function allFromEnd(): InstanceType<typeof streams.ReadReq.Options.AllOptions> {
  return new streams.ReadReq.Options.AllOptions().setEnd(empty);
}

function streamIdentifier(stream: string): InstanceType<typeof shared.StreamIdentifier> {
  return new shared.StreamIdentifier().setStreamName(Buffer.from(stream));
}

export type EventMessage = ReadResp.ReadEvent.RecordedEvent;

export function eventOf(answer: ReadResp): EventMessage | undefined {
  return answer.getEvent()?.getEvent();
}

/** The type of the event; empty if it has none. */
export function typeOf(message: EventMessage): string {
  return message.getMetadataMap().get('type') ?? '';
}

/** The size of its data and metadata. */
export function bytesOf(message: EventMessage): number {
  return message.getData_asU8().length + message.getCustomMetadata_asU8().length;
}

/** @throws RangeError above 2^53, where numbers are not exact any more: a log of 8 PiB */
export function positionOf(message: { getCommitPosition(): string }): number {
  const position = Number(message.getCommitPosition());
  if (Number.isSafeInteger(position)) return position;
  throw new RangeError(`The position ${message.getCommitPosition()} is too large for this release.`);
}

/** The event with unparsed texts and without the prefix of its stream. @throws RangeError */
export function storedEvent(message: EventMessage, names: StreamNames): RawEvent {
  return {
    position: positionOf(message),
    stream: names.fromServer(text(message.getStreamIdentifier()?.getStreamName_asU8())),
    revision: Number(message.getStreamRevision()),
    id: message.getId()?.getString() ?? '',
    type: typeOf(message),
    data: text(message.getData_asU8()),
    metadata: text(message.getCustomMetadata_asU8()),
  };
}

function text(bytes: Uint8Array | undefined): string {
  return bytes === undefined ? '' : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
}
