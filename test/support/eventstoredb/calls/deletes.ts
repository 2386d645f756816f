import streams, {
  type DeleteReq,
  type DeleteResp,
  type TombstoneReq,
  type TombstoneResp,
} from '@eventstore/db-client/generated/streams_pb.js';
import type { sendUnaryData } from '@grpc/grpc-js';
import type { EventLog, Expectation, Written } from '#test/support/eventstoredb/event-log.ts';
import {
  type CallFailure,
  streamDeleted,
  thrownByHandler,
  wrongExpectedVersion,
} from '#test/support/eventstoredb/faults/failures.ts';
import { streamNameOf } from './messages.ts';

/** Answers a call of `Delete`: a soft delete. */
export function answerDelete(request: DeleteReq, callback: sendUnaryData<DeleteResp>, log: EventLog): void {
  const written = run(request.getOptions(), (stream, expected) => log.softDelete(stream, expected));
  if ('code' in written) {
    callback(written);
    return;
  }
  const position = new streams.DeleteResp.Position()
    .setCommitPosition(String(written.position))
    .setPreparePosition(String(written.position));
  callback(null, new streams.DeleteResp().setPosition(position));
}

/** Answers a call of `Tombstone`. */
export function answerTombstone(request: TombstoneReq, callback: sendUnaryData<TombstoneResp>, log: EventLog): void {
  const written = run(request.getOptions(), (stream, expected) => log.tombstone(stream, expected));
  if ('code' in written) {
    callback(written);
    return;
  }
  const position = new streams.TombstoneResp.Position()
    .setCommitPosition(String(written.position))
    .setPreparePosition(String(written.position));
  callback(null, new streams.TombstoneResp().setPosition(position));
}

function run(
  options: DeleteReq.Options | TombstoneReq.Options | undefined,
  write: (stream: string, expected: Expectation) => Written,
): CallFailure | { readonly position: number | null } {
  const stream = streamNameOf(options?.getStreamIdentifier());
  if (options === undefined || stream === '') return thrownByHandler();
  const expected = expectationOf(options);
  const written = write(stream, expected);
  if (written.kind === 'deleted') return streamDeleted(stream);
  if (written.kind === 'conflict') return wrongExpectedVersion(stream, numberOf(expected), written.current ?? -1n);
  return written;
}

function expectationOf(options: DeleteReq.Options | TombstoneReq.Options): Expectation {
  if (options.hasRevision()) return BigInt(options.getRevision());
  if (options.hasNoStream()) return 'no-stream';
  return options.hasStreamExists() ? 'stream-exists' : 'any';
}

/** The server's numbers for expected states that are not revisions. */
function numberOf(expected: Expectation): bigint {
  if (typeof expected === 'bigint') return expected;
  return { 'no-stream': -1n, any: -2n, 'stream-exists': -4n }[expected];
}
