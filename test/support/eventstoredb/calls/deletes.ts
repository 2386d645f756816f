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
  commitTimeout,
  streamDeleted,
  thrownByHandler,
  wrongExpectedVersion,
} from '#test/support/eventstoredb/faults/failures.ts';
import type { LogIndex } from '#test/support/eventstoredb/log-index.ts';
import { streamNameOf } from './messages.ts';

/** Answers a call of `Delete`: a soft delete. */
export async function answerDelete(
  request: DeleteReq,
  callback: sendUnaryData<DeleteResp>,
  commit: Commit,
): Promise<void> {
  const written = await run(request.getOptions(), commit, (log, stream, expected) => log.softDelete(stream, expected));
  if ('code' in written) return callback(written);
  const position = new streams.DeleteResp.Position()
    .setCommitPosition(String(written.position))
    .setPreparePosition(String(written.position));
  callback(null, new streams.DeleteResp().setPosition(position));
}

/** Answers a call of `Tombstone`. */
export async function answerTombstone(
  request: TombstoneReq,
  callback: sendUnaryData<TombstoneResp>,
  commit: Commit,
): Promise<void> {
  const written = await run(request.getOptions(), commit, (log, stream, expected) => log.tombstone(stream, expected));
  if ('code' in written) return callback(written);
  const position = new streams.TombstoneResp.Position()
    .setCommitPosition(String(written.position))
    .setPreparePosition(String(written.position));
  callback(null, new streams.TombstoneResp().setPosition(position));
}

/** How a delete is committed. */
export interface Commit {
  readonly index: LogIndex;
  readonly timeoutMs: number;
}

async function run(
  options: DeleteReq.Options | TombstoneReq.Options | undefined,
  { index, timeoutMs }: Commit,
  write: (log: EventLog, stream: string, expected: Expectation) => Written,
): Promise<CallFailure | { readonly position: number | null }> {
  const stream = streamNameOf(options?.getStreamIdentifier());
  if (options === undefined || stream === '') return thrownByHandler();
  const expected = expectationOf(options);
  const written = write(index.log, stream, expected);
  if (written.kind === 'deleted') return streamDeleted(stream);
  if (written.kind === 'conflict') return wrongExpectedVersion(stream, numberOf(expected), written.current ?? -1n);
  const isShown = written.position === null || (await index.shows(written.position, timeoutMs));
  return isShown ? written : commitTimeout();
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
