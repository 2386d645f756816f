import type { ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import type { RawEvent } from '#event-store/transfer/raw-log.ts';
import type { StreamNames } from './stream-names.ts';

/** An event on the wire. */
export type EventMessage = ReadResp.ReadEvent.RecordedEvent;

/** The event of an answer; undefined for one that carries none. */
export function eventOf(answer: ReadResp): EventMessage | undefined {
  return answer.getEvent()?.getEvent();
}

/** The event's type; empty when it has none. */
export function typeOf(message: EventMessage): string {
  return message.getMetadataMap().get('type') ?? '';
}

/** Bytes of its data and metadata. */
export function bytesOf(message: EventMessage): number {
  return message.getData_asU8().length + message.getCustomMetadata_asU8().length;
}

/**
 * The event's position in the log, in this store's numbers.
 * @throws RangeError above 2^53, where numbers are no longer exact: a log of 8 PiB
 */
export function positionOf(message: { getCommitPosition(): string }): number {
  const position = Number(message.getCommitPosition());
  if (Number.isSafeInteger(position)) return position;
  throw new RangeError(`The position ${message.getCommitPosition()} is too large for this release.`);
}

/** The event as it was stored, its texts unread, its stream named as here. @throws RangeError */
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
