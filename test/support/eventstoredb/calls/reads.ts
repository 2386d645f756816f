import streams, { type ReadReq, type ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import type { ServerWritableStream } from '@grpc/grpc-js';
import type { LoggedEvent } from '#test/support/eventstoredb/event-log.ts';
import { type CallFailure, streamDeleted, unknown } from '#test/support/eventstoredb/faults/failures.ts';
import type { LogIndex } from '#test/support/eventstoredb/log-index.ts';
import { eventMessage, streamNotFound } from './messages.ts';
import type { ReadRequest } from './read-request.ts';

export type ReadCall = ServerWritableStream<ReadReq, ReadResp>;

/** What a release calls a position in the middle of a record. */
export type InvalidPosition = 'Error' | 'InvalidPosition';

/** Answers a read of a stream or of `$all`. */
export async function answerRead(
  call: ReadCall,
  index: LogIndex,
  request: ReadRequest,
  invalidPosition: InvalidPosition,
): Promise<void> {
  // A server never answers a read of `$all` with a limit of zero.
  if (request.stream === null && request.count === 0n) return;
  const { stream } = request;
  const answers = stream === null ? allAnswers(index, request, invalidPosition) : streamAnswers(index, stream, request);
  if ('code' in answers) {
    call.emit('error', answers);
    return;
  }
  for (const answer of answers) {
    if (call.cancelled || call.destroyed) return;
    if (!call.write(answer)) await writable(call);
  }
  call.end();
}

/** Resolves when more may be written or the call has ended. */
export function writable(call: ReadCall): Promise<void> {
  return new Promise((resolve) => {
    const go = () => {
      call.off('drain', go).off('close', go).off('cancelled', go);
      resolve();
    };
    call.on('drain', go).on('close', go).on('cancelled', go);
  });
}

/** Returns the event that a link refers to with the link; any other event unchanged. */
export function resolved(index: LogIndex, event: LoggedEvent, request: ReadRequest): ReadResp {
  if (!request.resolveLinks || event.type !== '$>') return eventMessage(event, undefined, request.uuids);
  const [, revision, stream] = /^(\d+)@(.+)$/.exec(Buffer.from(event.data).toString()) ?? [];
  if (revision === undefined || stream === undefined) return eventMessage(event, undefined, request.uuids);
  return eventMessage(index.find(stream, BigInt(revision)), event, request.uuids);
}

function streamAnswers(index: LogIndex, stream: string, request: ReadRequest): ReadResp[] | CallFailure {
  const { from, backwards, count } = request;
  if (index.isTombstoned(stream)) return streamDeleted(stream);
  const isEndless = from === 'end' || from === 0xffffffffffffffffn;
  if (count === 0n || (isEndless && !backwards)) return unknown('Unexpected ReadStreamResult: Error');
  const events = index.visible(stream);
  if (events === null) return [streamNotFound(stream)];
  const revision = from === 'start' ? 0n : from;
  const answers = limited(chosen(events, revision, backwards), count).map((event) => resolved(index, event, request));
  const last = index.lastRevision(stream);
  if (request.compatible && !backwards && last !== null)
    answers.push(new streams.ReadResp().setLastStreamPosition(String(last)));
  return answers;
}

function chosen(events: ReadonlyArray<LoggedEvent>, from: bigint | 'end', backwards: boolean): LoggedEvent[] {
  if (!backwards) return events.filter(({ revision }) => from !== 'end' && revision >= from);
  return events.filter(({ revision }) => from === 'end' || revision <= from).toReversed();
}

function allAnswers(
  index: LogIndex,
  request: ReadRequest,
  invalidPosition: InvalidPosition,
): Iterable<ReadResp> | CallFailure {
  const { from, backwards, filter } = request;
  const result = filter === null ? 'ReadAllResult' : 'FilteredReadAllResult';
  const place = index.placeOf(from);
  if (place.kind === 'invalid') return unknown(`Unexpected ${result}: ${invalidPosition}`);
  if (place.kind === 'at') return allowedAnswers(index, place.index, request);
  if (!backwards) return [];
  const isPastLog = from !== 'end' && from !== 'start' && from > BigInt(index.log.end);
  return isPastLog ? unknown(`Unexpected ${result}: Error`) : allowedAnswers(index, index.length, request);
}

/** Yields as many events as requested, without events that are stored meanwhile. */
function* allowedAnswers(index: LogIndex, from: number, request: ReadRequest): Generator<ReadResp, void, void> {
  const { backwards, filter, count } = request;
  const { length } = index;
  const { events } = index.log;
  const step = backwards ? -1 : 1;
  let left = count ?? BigInt(length);
  for (let place = backwards ? from - 1 : from; place >= 0 && place < length && left > 0n; place += step) {
    const event = events[place] as LoggedEvent;
    if (filter?.allows(event) === false) continue;
    left -= 1n;
    yield resolved(index, event, request);
  }
}

function limited(events: ReadonlyArray<LoggedEvent>, count: bigint | null): ReadonlyArray<LoggedEvent> {
  return count === null || count > BigInt(events.length) ? events : events.slice(0, Number(count));
}
