import type { UUID } from '@eventstore/db-client/generated/shared_pb.js';
import type { ProposedEvent } from '#test/support/eventstoredb/event-log.ts';
import { type CallFailure, eventTooLarge } from '#test/support/eventstoredb/faults/failures.ts';
import { uuidOf } from './messages.ts';

/** The limits of a server. */
export interface SizeLimits {
  /** The maximum bytes of event data in one append. A 23.10 server counts neither metadata nor types. */
  maxAppendBytes: number;
  /** The maximum bytes of one event, which is checked first; null before 24.10.5. */
  maxEventBytes: number | null;
}

export function defaultSizeLimits(): SizeLimits {
  return { maxAppendBytes: 1_048_576, maxEventBytes: null };
}

/** An event in either kind of append. */
export interface ProposedMessage {
  getId(): UUID | undefined;
  getMetadataMap(): { get(key: string): string | undefined };
  getData_asU8(): Uint8Array;
  getCustomMetadata_asU8(): Uint8Array;
}

/** The reason why a server refuses an event. */
export type BadEvent =
  | { readonly kind: 'metadata-missing'; readonly property: string }
  | { readonly kind: 'bad-request'; readonly detail: string };

/** @returns the events, or the reason why the first invalid one is refused */
export function proposedEvents(messages: ReadonlyArray<ProposedMessage>): ProposedEvent[] | BadEvent {
  const events: ProposedEvent[] = [];
  for (const message of messages) {
    const event = proposedEvent(message);
    if ('kind' in event) return event;
    events.push(event);
  }
  return events;
}

export function dataBytes(messages: ReadonlyArray<ProposedMessage>): number {
  return messages.reduce((bytes, message) => bytes + message.getData_asU8().length, 0);
}

/** The refusal of a call with an event that is too large by itself; null without one. */
export function largeEvent(messages: ReadonlyArray<ProposedMessage>, maxBytes: number | null): CallFailure | null {
  if (maxBytes === null) return null;
  for (const message of messages) {
    const typeBytes = 2 * (message.getMetadataMap().get('type') ?? '').length;
    const bytes = message.getData_asU8().length + message.getCustomMetadata_asU8().length + typeBytes;
    if (bytes > maxBytes) return eventTooLarge(maxBytes, bytes, uuidOf(message.getId()) ?? '');
  }
  return null;
}

function proposedEvent(message: ProposedMessage): ProposedEvent | BadEvent {
  const type = message.getMetadataMap().get('type');
  const contentType = message.getMetadataMap().get('content-type');
  if (type === undefined) return { kind: 'metadata-missing', property: 'type' };
  if (contentType === undefined) return { kind: 'metadata-missing', property: 'content-type' };
  const id = uuidOf(message.getId());
  if (id === null) return { kind: 'bad-request', detail: 'Unrecognized Guid format.' };
  if (type === '') return { kind: 'bad-request', detail: "Empty eventType provided. (Parameter 'eventType')" };
  return {
    id,
    type,
    isJson: contentType === 'application/json',
    data: message.getData_asU8(),
    metadata: message.getCustomMetadata_asU8(),
  };
}
