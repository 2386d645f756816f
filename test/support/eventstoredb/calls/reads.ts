import streams, { type ReadReq, type ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import type { ServerWritableStream } from '@grpc/grpc-js';
import type { EventLog, LoggedEvent } from '#test/support/eventstoredb/event-log.ts';
import { type CallFailure, streamDeleted, unknown } from '#test/support/eventstoredb/faults/failures.ts';
import { eventMessage, streamNotFound } from './messages.ts';
import type { ReadRequest } from './read-request.ts';

export type ReadCall = ServerWritableStream<ReadReq, ReadResp>;

/** Answers a read of a stream or of `$all`. */
export async function answerRead(call: ReadCall, log: EventLog, request: ReadRequest): Promise<void> {
  // A server never answers a read of `$all` with a limit of zero.
  if (request.stream === null && request.count === 0n) return;
  const answers = request.stream === null ? allAnswers(log, request) : streamAnswers(log, request.stream, request);
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
export function resolved(log: EventLog, event: LoggedEvent, request: ReadRequest): ReadResp {
  if (!request.resolveLinks || event.type !== '$>') return eventMessage(event, undefined, request.uuids);
  const [, revision, stream] = /^(\d+)@(.+)$/.exec(Buffer.from(event.data).toString()) ?? [];
  if (revision === undefined || stream === undefined) return eventMessage(event, undefined, request.uuids);
  return eventMessage(log.find(stream, BigInt(revision)), event, request.uuids);
}

function streamAnswers(log: EventLog, stream: string, request: ReadRequest): ReadResp[] | CallFailure {
  const { from, backwards, count } = request;
  if (log.isTombstoned(stream)) return streamDeleted(stream);
  const isEndless = from === 'end' || from === 0xffffffffffffffffn;
  if (count === 0n || (isEndless && !backwards)) return unknown('Unexpected ReadStreamResult: Error');
  const events = log.visible(stream);
  if (events === null) return [streamNotFound(stream)];
  const revision = from === 'start' ? 0n : from;
  const answers = limited(chosen(events, revision, backwards), count).map((event) => resolved(log, event, request));
  const last = log.lastRevision(stream);
  if (request.compatible && !backwards && last !== null)
    answers.push(new streams.ReadResp().setLastStreamPosition(String(last)));
  return answers;
}

function chosen(events: ReadonlyArray<LoggedEvent>, from: bigint | 'end', backwards: boolean): LoggedEvent[] {
  if (!backwards) return events.filter(({ revision }) => from !== 'end' && revision >= from);
  return events.filter(({ revision }) => from === 'end' || revision <= from).toReversed();
}

function allAnswers(log: EventLog, request: ReadRequest): Iterable<ReadResp> | CallFailure {
  const { from, backwards } = request;
  const index = indexOf(log, from);
  if (index === null || (index > log.events.length && backwards)) return unknown('Unexpected ReadAllResult: Error');
  return allowedAnswers(log, index, request);
}

/** Yields as many events as requested, without events that are stored meanwhile. */
function* allowedAnswers(log: EventLog, index: number, request: ReadRequest): Generator<ReadResp, void, void> {
  const { backwards, filter, count } = request;
  const { events } = log;
  const end = backwards ? -1 : events.length;
  const step = backwards ? -1 : 1;
  let left = count ?? BigInt(events.length);
  for (let place = backwards ? index - 1 : index; place !== end && place < events.length && left > 0n; place += step) {
    const event = events[place] as LoggedEvent;
    if (filter?.allows(event) === false) continue;
    left -= 1n;
    yield resolved(log, event, request);
  }
}

/** The place of the event at a position; past the end for a position past the end; null for one between two events. */
export function indexOf(log: EventLog, from: ReadRequest['from']): number | null {
  if (from === 'start' || from === 0n) return 0;
  if (from === 'end') return log.events.length;
  let low = 0;
  let high = log.events.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (BigInt(log.events[middle]?.position ?? 0) < from) low = middle + 1;
    else high = middle;
  }
  if (low === log.events.length) return low + 1;
  return BigInt(log.events[low]?.position ?? 0) === from ? low : null;
}

function limited(events: ReadonlyArray<LoggedEvent>, count: bigint | null): ReadonlyArray<LoggedEvent> {
  return count === null || count > BigInt(events.length) ? events : events.slice(0, Number(count));
}
