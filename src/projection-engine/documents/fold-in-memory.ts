import type { RecordedEvent } from '#event-store/event-store.ts';
import { type AnyProjection, eventTypesOf } from '#projection-engine/projection.ts';
import type { DocumentValue } from '#read-store/read-store.ts';
import { DocumentBuffer } from './document-buffer.ts';

/** Folds as the runner does. The documents are found by id, and read back from the stored text. */
export function foldInMemory(
  projection: AnyProjection,
  events: ReadonlyArray<RecordedEvent>,
): Readonly<Record<string, DocumentValue>> {
  const unlimited = { maxDocuments: Number.MAX_SAFE_INTEGER, maxBytes: Number.MAX_SAFE_INTEGER };
  const buffer = new DocumentBuffer(projection, unlimited);
  const types = eventTypesOf(projection);
  for (const event of events.filter(({ type }) => types.includes(type))) {
    const keys = buffer.keys(event);
    for (const key of keys) if (!buffer.knows(key)) buffer.remember(key, null);
    buffer.apply(event, keys);
  }
  const documents: Record<string, DocumentValue> = {};
  for (const write of buffer.writes()) if (write.kind === 'put') documents[write.id] = JSON.parse(write.body);
  return documents;
}
