import shared from '@eventstore/db-client/generated/shared_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import type { LoggedEvent } from '#test/support/eventstoredb/event-log.ts';

type Uuid = InstanceType<typeof shared.UUID>;
type Identifier = InstanceType<typeof shared.StreamIdentifier>;
type ReadResponse = InstanceType<typeof streams.ReadResp>;

/** The form of event ids in an answer. */
export type UuidForm = 'string' | 'structured';

/** A stream's name on the wire: bytes. */
export function streamIdentifier(name: string): Identifier {
  return new shared.StreamIdentifier().setStreamName(Buffer.from(name));
}

/** A stream's name from the wire; empty when none was given. */
export function streamNameOf(identifier: Identifier | undefined): string {
  return Buffer.from(identifier?.getStreamName_asU8() ?? []).toString();
}

/** A UUID on the wire. @param id with hyphens */
export function uuidMessage(id: string, form: UuidForm = 'string'): Uuid {
  if (form === 'string') return new shared.UUID().setString(id);
  const bytes = Buffer.from(id.replaceAll('-', ''), 'hex');
  const structured = new shared.UUID.Structured()
    .setMostSignificantBits(bytes.readBigInt64BE(0).toString())
    .setLeastSignificantBits(bytes.readBigInt64BE(8).toString());
  return new shared.UUID().setStructured(structured);
}

/** Decodes a UUID from the wire, in lower case with hyphens; null when it is invalid. */
export function uuidOf(message: Uuid | undefined): string | null {
  const structured = message?.getStructured();
  if (structured === undefined) {
    const text = (message?.getString() ?? '').toLowerCase();
    return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text) ? text : null;
  }
  const bytes = Buffer.alloc(16);
  bytes.writeBigInt64BE(BigInt(structured.getMostSignificantBits()), 0);
  bytes.writeBigInt64BE(BigInt(structured.getLeastSignificantBits()), 8);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** Returns the answer with an event, which may be resolved from a link. @param event undefined for a broken link */
export function eventMessage(
  event: LoggedEvent | undefined,
  link: LoggedEvent | undefined,
  form: UuidForm,
): ReadResponse {
  const message = new streams.ReadResp.ReadEvent();
  if (event !== undefined) message.setEvent(recordedMessage(event, form));
  if (link !== undefined) message.setLink(recordedMessage(link, form));
  message.setCommitPosition(String((link ?? event)?.position ?? 0));
  return new streams.ReadResp().setEvent(message);
}

function recordedMessage(event: LoggedEvent, form: UuidForm) {
  const position = String(event.position);
  const message = new streams.ReadResp.ReadEvent.RecordedEvent()
    .setId(uuidMessage(event.id, form))
    .setStreamIdentifier(streamIdentifier(event.stream))
    .setStreamRevision(event.revision.toString())
    .setCommitPosition(position)
    .setPreparePosition(position)
    .setData(event.data)
    .setCustomMetadata(event.metadata);
  message
    .getMetadataMap()
    .set('type', event.type)
    .set('content-type', event.isJson ? 'application/json' : 'application/octet-stream')
    // The server counts in ticks of 100 ns.
    .set('created', `${event.createdAt}0000`);
  return message;
}

export function streamNotFound(name: string): ReadResponse {
  return new streams.ReadResp().setStreamNotFound(
    new streams.ReadResp.StreamNotFound().setStreamIdentifier(streamIdentifier(name)),
  );
}

export function confirmation(): ReadResponse {
  return new streams.ReadResp().setConfirmation(
    new streams.ReadResp.SubscriptionConfirmation().setSubscriptionId(crypto.randomUUID()),
  );
}

export function caughtUp(): ReadResponse {
  return new streams.ReadResp().setCaughtUp(new streams.ReadResp.CaughtUp());
}

/** @param prepare differs from the commit position when the filter allowed no event of the page */
export function checkpoint(commit: number, prepare = commit): ReadResponse {
  return new streams.ReadResp().setCheckpoint(
    new streams.ReadResp.Checkpoint().setCommitPosition(String(commit)).setPreparePosition(String(prepare)),
  );
}
