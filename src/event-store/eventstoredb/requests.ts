import shared from '@eventstore/db-client/generated/shared_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import { type EventToAppend, noStream } from '#event-store/event-store.ts';

// The client's own methods make these messages from values that it turns into JSON itself; ours are texts already, and
// what was hashed must be what is stored.

type AppendRequest = InstanceType<typeof streams.AppendReq>;
type ReadRequest = InstanceType<typeof streams.ReadReq>;

const empty = new shared.Empty();

/** The messages of one append, in order. */
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

/** A stream's events in order, from a revision on. @param count of events at most */
export function streamRequest(stream: string, fromRevision: number, count: number): ReadRequest {
  const from = new streams.ReadReq.Options.StreamOptions()
    .setStreamIdentifier(streamIdentifier(stream))
    .setRevision(String(fromRevision));
  return readRequest(
    new streams.ReadReq.Options().setStream(from).setCount(String(count)).setNoFilter(empty).setReadDirection(0),
  );
}

/** The last event of the log that is not the server's own. */
export function lastEventRequest(): ReadRequest {
  const end = new streams.ReadReq.Options.AllOptions().setEnd(empty);
  return readRequest(
    new streams.ReadReq.Options().setAll(end).setCount('1').setFilter(ourEvents()).setReadDirection(1),
  );
}

/** The log's events from a position on, that one included, without the server's own. @param count of events at most */
export function logRequest(from: number, count: number): ReadRequest {
  return readRequest(
    new streams.ReadReq.Options()
      .setAll(allFrom(from))
      .setCount(String(count))
      .setFilter(ourEvents())
      .setReadDirection(0),
  );
}

/** The log's events after a position and then live, without the server's own. */
export function subscriptionRequest(after: number): ReadRequest {
  return readRequest(
    new streams.ReadReq.Options()
      .setAll(allFrom(after))
      .setSubscription(new streams.ReadReq.Options.SubscriptionOptions())
      .setFilter(ourEvents())
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

/**
 * The types of the server's own events begin with `$`. Which of ours are wanted is not asked of the server: its
 * checkpoints tell of what it passed over late and only in part, so positions would lag behind the log.
 */
function ourEvents(): InstanceType<typeof streams.ReadReq.Options.FilterOptions> {
  const notOfServer = new streams.ReadReq.Options.FilterOptions.Expression().setRegex('^[^$].*');
  return new streams.ReadReq.Options.FilterOptions()
    .setEventType(notOfServer)
    .setMax(eventsBetweenCheckpoints)
    .setCheckpointintervalmultiplier(1);
}

/** Checkpoints are not used; so few of them, in steps that a server can look through at once. */
const eventsBetweenCheckpoints = 500;

function streamIdentifier(stream: string): InstanceType<typeof shared.StreamIdentifier> {
  return new shared.StreamIdentifier().setStreamName(Buffer.from(stream));
}
