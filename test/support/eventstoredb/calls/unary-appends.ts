import { setImmediate as nextTurn } from 'node:timers/promises';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import streams, { type AppendReq, type AppendResp } from '@eventstore/db-client/generated/streams_pb.js';
import type { ServerReadableStream, sendUnaryData } from '@grpc/grpc-js';
import type { Expectation } from '#test/support/eventstoredb/event-log.ts';
import type { AppendResult, FaultyAppends } from '#test/support/eventstoredb/faults/append-faults.ts';
import {
  appendTooLarge,
  type CallFailure,
  invalidArgument,
  metadataMissing,
  streamDeleted,
  thrownByHandler,
} from '#test/support/eventstoredb/faults/failures.ts';
import { streamNameOf } from './messages.ts';
import { dataBytes, largeEvent, proposedEvents, type SizeLimits } from './proposed-events.ts';

/**
 * Answers a call of `Append`: options first, then events, one append in all. A call that ends before it is whole stores
 * nothing.
 */
export function answerAppend(
  call: ServerReadableStream<AppendReq, AppendResp>,
  callback: sendUnaryData<AppendResp>,
  appends: FaultyAppends,
  limits: SizeLimits,
): void {
  const requests: AppendReq[] = [];
  call.on('data', (request: AppendReq) => requests.push(request));
  // The client has disconnected.
  call.on('error', () => {});
  call.on('end', async () => {
    // A call that the client cancels ends like a whole one. It is marked as cancelled in the same turn.
    await nextTurn();
    if (call.cancelled) return;
    const outcome = await append(requests, appends, limits);
    if (outcome === null) return;
    if ('code' in outcome) callback(outcome);
    else callback(null, outcome);
  });
}

async function append(
  requests: AppendReq[],
  appends: FaultyAppends,
  { maxAppendBytes, maxEventBytes }: SizeLimits,
): Promise<CallFailure | AppendResp | null> {
  const [first, ...others] = requests;
  const options = first?.getOptions();
  if (options === undefined || others.some((request) => request.hasOptions())) return thrownByHandler();
  const expected = expectationOf(options);
  if (expected === null)
    return invalidArgument(
      "'None' is not a valid EventStore.Client.Streams.AppendReq+Types+Options+ExpectedStreamRevisionOneofCase",
    );
  const messages = others.flatMap((request) => request.getProposedMessage() ?? []);
  const tooLarge = largeEvent(messages, maxEventBytes);
  if (tooLarge !== null) return tooLarge;
  if (dataBytes(messages) > maxAppendBytes) return appendTooLarge(maxAppendBytes);
  const events = proposedEvents(messages);
  if ('kind' in events)
    return events.kind === 'metadata-missing' ? metadataMissing(events.property) : thrownByHandler();
  const stream = streamNameOf(options.getStreamIdentifier());
  if (stream === '') return thrownByHandler();
  return answerOf(stream, expected, await appends.append(stream, expected, events));
}

function expectationOf(options: AppendReq.Options): Expectation | null {
  if (options.hasAny()) return 'any';
  if (options.hasNoStream()) return 'no-stream';
  if (options.hasStreamExists()) return 'stream-exists';
  return options.hasRevision() ? BigInt(options.getRevision()) : null;
}

function answerOf(stream: string, expected: Expectation, result: AppendResult): CallFailure | AppendResp | null {
  switch (result.kind) {
    case 'silence':
      return null;
    case 'failed':
      return result.failure;
    case 'deleted':
      return streamDeleted(stream);
    case 'conflict':
      return new streams.AppendResp().setWrongExpectedVersion(wrongExpectedVersion(expected, result.current));
    case 'written': {
      const success = new streams.AppendResp.Success();
      if (result.revision === null) success.setNoStream(new shared.Empty());
      else success.setCurrentRevision(String(result.revision));
      if (result.position === null) success.setNoPosition(new shared.Empty());
      else
        success.setPosition(
          new streams.AppendResp.Position()
            .setCommitPosition(String(result.position))
            .setPreparePosition(String(result.position)),
        );
      return new streams.AppendResp().setSuccess(success);
    }
  }
}

/** A server sends both: old clients read the fields that end in 2060, new clients the others. The stubs have the old ones as numbers. */
function wrongExpectedVersion(expected: Expectation, current: bigint | null): AppendResp.WrongExpectedVersion {
  const message = new streams.AppendResp.WrongExpectedVersion();
  if (current === null) message.setNoStream2060(new shared.Empty()).setCurrentNoStream(new shared.Empty());
  else message.setCurrentRevision2060(Number(current)).setCurrentRevision(String(current));
  if (expected === 'any') message.setAny2060(new shared.Empty()).setExpectedAny(new shared.Empty());
  else if (expected === 'stream-exists')
    message.setStreamExists2060(new shared.Empty()).setExpectedStreamExists(new shared.Empty());
  // The 2060 field would be 2^64 - 1 here, which these stubs cannot write.
  else if (expected === 'no-stream') message.setExpectedNoStream(new shared.Empty());
  else message.setExpectedRevision2060(Number(expected)).setExpectedRevision(String(expected));
  return message;
}
