import codes from '@eventstore/db-client/generated/code_pb.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import status from '@eventstore/db-client/generated/status_pb.js';
import streams, { type BatchAppendReq, type BatchAppendResp } from '@eventstore/db-client/generated/streams_pb.js';
import type { ServerDuplexStream } from '@grpc/grpc-js';
import any from 'google-protobuf/google/protobuf/any_pb.js';
import empty from 'google-protobuf/google/protobuf/empty_pb.js';
import type { Expectation } from '#test/support/eventstoredb/event-log.ts';
import type { AppendResult, FaultyAppends } from '#test/support/eventstoredb/faults/append-faults.ts';
import { streamIdentifier, streamNameOf, uuidMessage, uuidOf } from './messages.ts';
import { dataBytes, proposedEvents, type SizeLimits } from './proposed-events.ts';

interface Gathering {
  readonly options: BatchAppendReq.Options;
  readonly messages: BatchAppendReq.ProposedMessage[];
}

type Status = InstanceType<typeof status.Status>;

/** Answers a call of `BatchAppend`: many appends, each in one message or more, each answered by its correlation id. */
export class BatchAppendCall {
  readonly #call: ServerDuplexStream<BatchAppendReq, BatchAppendResp>;
  readonly #appends: FaultyAppends;
  readonly #isReady: () => boolean;
  readonly #limits: SizeLimits;
  readonly #gathering = new Map<string | null, Gathering>();
  #begun = 0;
  #answered = 0;
  #halfClosed = false;

  /** @param isReady false while the node refuses appends */
  constructor(
    call: ServerDuplexStream<BatchAppendReq, BatchAppendResp>,
    appends: FaultyAppends,
    isReady: () => boolean,
    limits: SizeLimits,
  ) {
    this.#limits = limits;
    this.#call = call;
    this.#appends = appends;
    this.#isReady = isReady;
    call.on('data', (request: BatchAppendReq) => void this.#take(request));
    // The client has disconnected.
    call.on('error', () => {});
    call.on('end', () => this.#end());
  }

  async #take(request: BatchAppendReq): Promise<void> {
    const id = uuidOf(request.getCorrelationId());
    const options = request.getOptions();
    if (options !== undefined) this.#gathering.set(id, { options, messages: [] });
    const gathering = this.#gathering.get(id);
    if (gathering === undefined) return;
    gathering.messages.push(...request.getProposedMessagesList());
    if (!request.getIsFinal()) return;
    this.#gathering.delete(id);
    this.#begun += 1;
    await this.#append(id, gathering);
  }

  async #append(id: string | null, { options, messages }: Gathering): Promise<void> {
    const stream = streamNameOf(options.getStreamIdentifier());
    const expected = expectationOf(options);
    const refusal = this.#refusalOf(id, stream, expected, options, messages);
    if (refusal !== null) return this.#answer(id, stream, new streams.BatchAppendResp().setError(refusal));
    const events = proposedEvents(messages);
    if ('kind' in events || expected === null) {
      const detail = 'kind' in events && events.kind === 'bad-request' ? events.detail : 'Required metadata is missing';
      return this.#answer(id, stream, new streams.BatchAppendResp().setError(badRequest(detail)));
    }
    const answer = answerOf(stream, expected, await this.#appends.append(stream, expected, events));
    if (answer !== null) this.#answer(id, stream, answer);
  }

  /** Returns null for a valid append. */
  #refusalOf(
    id: string | null,
    stream: string,
    expected: Expectation | null,
    options: BatchAppendReq.Options,
    messages: BatchAppendReq.ProposedMessage[],
  ): Status | null {
    // A real server wraps "not ready" like this; its client reports an unknown error.
    if (!this.#isReady())
      return new status.Status()
        .setCode(codes.Code.OK)
        .setMessage('Server Is Not Ready')
        .setDetails(packed(new empty.Empty(), 'google.protobuf.Empty'));
    if (id === null) return badRequest("Value cannot be null. (Parameter 'dto')");
    if (stream === '') return badRequest("Value cannot be null. (Parameter 'value')");
    if (expected === null)
      return badRequest(
        'Status(StatusCode="InvalidArgument", Detail="\'None\' is not a valid EventStore.Client.Streams.BatchAppendReq+Types+Options+ExpectedStreamPositionOneofCase")',
      );
    const deadline = options.getDeadline();
    if (deadline !== undefined && deadline.toDate().getTime() <= Date.now()) return timeout();
    const { maxAppendBytes } = this.#limits;
    if (dataBytes(messages) > maxAppendBytes) return tooLarge(maxAppendBytes);
    return null;
  }

  #answer(id: string | null, stream: string, answer: BatchAppendResp): void {
    if (id !== null) answer.setCorrelationId(uuidMessage(id));
    answer.setStreamIdentifier(streamIdentifier(stream));
    this.#answered += 1;
    if (this.#call.cancelled) return;
    this.#call.write(answer);
    if (this.#halfClosed) this.#end();
  }

  /** A real server ends the call after its last answer, but leaves a call open that never had a request. */
  #end(): void {
    this.#halfClosed = true;
    if (this.#begun > 0 && this.#begun === this.#answered) this.#call.end();
  }
}

function expectationOf(options: BatchAppendReq.Options): Expectation | null {
  if (options.hasAny()) return 'any';
  if (options.hasNoStream()) return 'no-stream';
  if (options.hasStreamExists()) return 'stream-exists';
  return options.hasStreamPosition() ? BigInt(options.getStreamPosition()) : null;
}

function answerOf(stream: string, expected: Expectation, result: AppendResult): BatchAppendResp | null {
  const answer = new streams.BatchAppendResp();
  switch (result.kind) {
    case 'silence':
      return null;
    case 'failed':
      return answer.setError(timeout());
    case 'deleted': {
      const details = new shared.StreamDeleted().setStreamIdentifier(streamIdentifier(stream));
      return answer.setError(errorStatus(codes.Code.NOT_FOUND, 'StreamDeleted', details));
    }
    case 'conflict':
      return answer.setError(
        errorStatus(codes.Code.ALREADY_EXISTS, 'WrongExpectedVersion', conflictDetails(expected, result.current)),
      );
    case 'written': {
      const success = new streams.BatchAppendResp.Success();
      if (result.revision === null) success.setNoStream(new empty.Empty());
      else success.setCurrentRevision(String(result.revision));
      if (result.position === null) success.setNoPosition(new empty.Empty());
      else
        success.setPosition(
          new shared.AllStreamPosition()
            .setCommitPosition(String(result.position))
            .setPreparePosition(String(result.position)),
        );
      return answer.setSuccess(success);
    }
  }
}

function conflictDetails(expected: Expectation, current: bigint | null) {
  const details = new shared.WrongExpectedVersion();
  if (current === null) details.setCurrentNoStream(new empty.Empty());
  else details.setCurrentStreamRevision(String(current));
  if (expected === 'any') details.setExpectedAny(new empty.Empty());
  else if (expected === 'no-stream') details.setExpectedNoStream(new empty.Empty());
  else if (expected === 'stream-exists') details.setExpectedStreamExists(new empty.Empty());
  else details.setExpectedStreamPosition(String(expected));
  return details;
}

function badRequest(message: string): Status {
  return errorStatus(codes.Code.INVALID_ARGUMENT, 'BadRequest', new shared.BadRequest().setMessage(message));
}

function timeout(): Status {
  return errorStatus(codes.Code.DEADLINE_EXCEEDED, 'Timeout', new shared.Timeout());
}

function tooLarge(maxAppendBytes: number): Status {
  const details = new shared.MaximumAppendSizeExceeded().setMaxappendsize(maxAppendBytes);
  return errorStatus(codes.Code.INVALID_ARGUMENT, 'MaximumAppendSizeExceeded', details);
}

/** @param name the type of the details, which is also the error's message */
function errorStatus(code: codes.Code, name: string, details: { serializeBinary(): Uint8Array }): Status {
  return new status.Status()
    .setCode(code)
    .setMessage(name)
    .setDetails(packed(details, `event_store.client.${name}`));
}

function packed(message: { serializeBinary(): Uint8Array }, type: string) {
  const details = new any.Any();
  details.pack(message.serializeBinary(), type);
  return details;
}
