import type { ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import * as E from 'fp-ts/lib/Either.js';
import { isShortenedOnPurpose } from '#domain/stream-kinds.ts';
import { gapIn, type StreamGap } from '#event-store/unreadable-stream.ts';
import type { Admission } from '#exchange/admission.ts';
import { Held } from '#exchange/held.ts';
import { currentOwner } from '#shared/async/fair-queue.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { isObject, type JsonObject } from '#shared/json/json.ts';
import { StreamClosedError } from './connection/call-failure.ts';
import type { Reads } from './connection/reads.ts';
import type { UnreadableStreams } from './unreadable-streams.ts';
import { bytesOf, type EventMessage, eventOf, metadataRequest, streamRequest } from './wire/requests.ts';
import type { StreamNames } from './wire/stream-names.ts';

export interface StreamReaderOptions {
  readonly admission: Pick<Admission, 'slot'>;
  readonly reads: Reads;
  readonly names: StreamNames;
  readonly unreadable: UnreadableStreams;
}

/** The server reads a stream in pages of 32 events. Most streams end within the first one. */
const eventsOfFirstRead = 31;

/**
 * Reads streams without gaps. The server shows a shortened stream without a word, and a soft-deleted one as if it had
 * never existed, so both are checked here, for all readers.
 */
export class StreamReader {
  readonly #options: StreamReaderOptions;

  constructor(options: StreamReaderOptions) {
    this.#options = options;
  }

  /** @param maxBytes after them it does not wait for more events @throws UnavailableError; UnreadableStreamError */
  async read(
    stream: string,
    fromRevision: number,
    limit: number,
    maxBytes?: number,
  ): Promise<ReadonlyArray<EventMessage>> {
    if (limit <= 0) return [];
    const answers = await this.#answers(stream, fromRevision, limit, maxBytes);
    const messages = answers.flatMap((answer) => eventOf(answer) ?? []);
    if (isShortenedOnPurpose(stream)) return messages;
    // A stream may be deleted between the two reads of a long part.
    const isMissing = answers.some((answer) => answer.hasStreamNotFound());
    if (messages.length === 0 || isMissing) await this.#ensureEnd(stream, fromRevision + messages.length, answers);
    const gap = gapIn(stream, fromRevision, messages.map(revisionOf));
    if (gap !== null) throw this.#errorOf(gap, await this.#metadataOf(stream));
    return messages;
  }

  async #answers(stream: string, fromRevision: number, limit: number, maxBytes?: number) {
    const { unreadable } = this.#options;
    try {
      const first = await this.#read(stream, fromRevision, Math.min(limit, eventsOfFirstRead), maxBytes);
      const messages = first.flatMap((answer) => eventOf(answer) ?? []);
      const bytesLeft = messages.reduce(
        (left, message) => left - bytesOf(message),
        maxBytes ?? Number.POSITIVE_INFINITY,
      );
      const eventsLeft = limit - messages.length;
      const last = messages.at(-1);
      if (last === undefined || messages.length < eventsOfFirstRead || eventsLeft === 0 || bytesLeft < 0) return first;
      // A shortened stream begins above the revision asked for.
      const next = revisionOf(last) + 1;
      return [...first, ...(await this.#inTurn(() => this.#read(stream, next, eventsLeft, bytesLeft)))];
    } catch (error) {
      if (!(error instanceof StreamClosedError)) throw error;
      throw unreadable.errorOf({ stream, expectedRevision: fromRevision, foundRevision: null }, tombstoned);
    }
  }

  #read(stream: string, fromRevision: number, limit: number, maxBytes?: number) {
    const { reads, names } = this.#options;
    return reads.answers(streamRequest(names.onServer(stream), fromRevision, limit), maxBytes);
  }

  /** @throws UnavailableError if no turn comes in time */
  async #inTurn<Result>(read: () => Promise<Result>): Promise<Result> {
    const leave = await this.#options.admission.slot(new Held(currentOwner()), 'long read');
    if (E.isLeft(leave)) throw new UnavailableError(leave.left.detail);
    return read().finally(leave.right);
  }

  /** Checks the end of a stream that shows no event from the revision on. */
  async #ensureEnd(stream: string, fromRevision: number, answers: ReadonlyArray<ReadResp>): Promise<void> {
    const gap = { stream, expectedRevision: fromRevision, foundRevision: null };
    if (answers.some((answer) => answer.hasStreamNotFound())) {
      const metadata = await this.#metadataOf(stream);
      if (truncatedBefore(metadata) > 0) throw this.#errorOf(gap, metadata);
      return;
    }
    const last = answers.find((answer) => answer.hasLastStreamPosition())?.getLastStreamPosition();
    // A stream that exists has an event at revision 0.
    const isHidden = fromRevision === 0 || (last !== undefined && Number(last) >= fromRevision);
    if (isHidden) throw this.#errorOf(gap, await this.#metadataOf(stream));
  }

  /** The limits that someone has set for the stream on the server. */
  async #metadataOf(stream: string): Promise<JsonObject> {
    const { reads, names } = this.#options;
    const answers = await reads.answers(metadataRequest(names.onServer(stream)));
    const [message] = answers.flatMap((answer) => eventOf(answer) ?? []);
    return message === undefined ? {} : limitsIn(message);
  }

  #errorOf(gap: StreamGap, metadata: JsonObject) {
    return this.#options.unreadable.errorOf(gap, reasonIn(metadata, this.#options.names.onServer(gap.stream)));
  }
}

export const tombstoned = 'it was deleted for good (tombstoned) in EventStoreDB';

function revisionOf(message: EventMessage): number {
  return Number(message.getStreamRevision());
}

/** The limits in the metadata. Whoever sets the limits of a stream may store any bytes. */
function limitsIn(message: EventMessage): JsonObject {
  try {
    const value: unknown = JSON.parse(Buffer.from(message.getData_asU8()).toString());
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

function truncatedBefore({ $tb }: JsonObject): number {
  return typeof $tb === 'number' ? $tb : 0;
}

/** The limit that has most likely hidden events. @param name on the server */
function reasonIn(metadata: JsonObject, name: string): string {
  // A soft delete sets the largest number.
  if (truncatedBefore(metadata) > Number.MAX_SAFE_INTEGER) return `${name} was deleted in EventStoreDB (soft delete)`;
  const limits = ['$tb', '$maxCount', '$maxAge'].flatMap((limit) =>
    typeof metadata[limit] === 'number' ? `${limit} is ${metadata[limit]}` : [],
  );
  if (limits.length > 0) return `${limits.join(' and ')} in the metadata of ${name} in EventStoreDB`;
  return `the metadata of ${name} in EventStoreDB has no limit now, so a scavenge has removed the events`;
}
