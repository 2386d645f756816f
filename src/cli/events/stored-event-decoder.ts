import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { eventCodecs, eventMetadataCodec, isKnownEventType } from '#domain/event-codecs.ts';
import { upcasters } from '#domain/upcasters.ts';
import type { StoredEvent } from '#event-store/event-store.ts';
import { type ParsedTexts, parseTexts, UpcastError, upcastWith } from '#event-store/recorded-event.ts';
import { inputErrors } from '#exchange/input-errors.ts';
import type { JsonObject } from '#shared/json/json.ts';

const upcast = upcastWith(upcasters);

const metadataCodec = t.type({ metadata: eventMetadataCodec });
const dataCodecs = new Map(Object.entries(eventCodecs).map(([type, data]) => [type, t.type({ data })]));

/** Decodes events that come from outside. The service itself trusts its own log and does not decode it (ADR 24). */
export class StoredEventDecoder {
  readonly #unknownTypes = new Map<string, number>();

  /** The number of events of each unknown type, which are not decoded. */
  get unknownTypes(): ReadonlyMap<string, number> {
    return this.#unknownTypes;
  }

  /** @returns the event's error, with a pointer (RFC 6901) into it; null if it decodes */
  faultOf(event: StoredEvent, texts: ParsedTexts = parseTexts(event)): string | null {
    const { type, data } = event;
    if (!isKnownEventType(type)) {
      this.#unknownTypes.set(type, (this.#unknownTypes.get(type) ?? 0) + 1);
      return null;
    }
    try {
      const metadata: unknown = texts.metadata ?? JSON.parse(event.metadata);
      const decodedMetadata = metadataCodec.decode({ metadata });
      if (E.isLeft(decodedMetadata)) return faultsIn(decodedMetadata.left);
      const { schemaVersion } = decodedMetadata.right.metadata;
      const newest = upcast(type, schemaVersion, (texts.data ?? JSON.parse(data)) as JsonObject);
      const decoded = dataCodecs.get(type)?.decode({ data: newest });
      return decoded === undefined || E.isRight(decoded) ? null : faultsIn(decoded.left);
    } catch (error) {
      if (error instanceof UpcastError || error instanceof SyntaxError) return error.message;
      // An upcaster failed on a shape that no release has written.
      return `its data is not what schema versions before had: ${error}`;
    }
  }
}

function faultsIn(errors: t.Errors): string {
  const [first, ...others] = inputErrors(errors);
  const more = others.length === 0 ? '' : `, and ${others.length} more`;
  return `${first?.pointer} ${first?.message}${more}`;
}
