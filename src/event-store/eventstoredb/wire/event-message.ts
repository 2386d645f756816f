import type { ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import type { RawEvent } from '#event-store/transfer/raw-log.ts';
import type { StreamNames } from './stream-names.ts';

/** An event on the wire. */
export type EventMessage = ReadResp.ReadEvent.RecordedEvent;

/** Returns the event of an answer; undefined if it has none. */
export function eventOf(answer: ReadResp): EventMessage | undefined {
  return answer.getEvent()?.getEvent();
}

/** Returns the type of an event; empty if it has none. */
export function typeOf(message: EventMessage): string {
  return message.getMetadataMap().get('type') ?? '';
}

/** Returns the bytes of its data and metadata. */
export function bytesOf(message: EventMessage): number {
  return message.getData_asU8().length + message.getCustomMetadata_asU8().length;
}

/**
 * Returns the position of an event in the log.
 * @throws RangeError above 2^53, where numbers are not exact any more: a log of 8 PiB
 */
export function positionOf(message: { getCommitPosition(): string }): number {
  const position = Number(message.getCommitPosition());
  if (Number.isSafeInteger(position)) return position;
  throw new RangeError(`The position ${message.getCommitPosition()} is too large for this release.`);
}

/** Returns the event as stored, with unparsed texts and without the prefix of its stream. @throws RangeError */
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
