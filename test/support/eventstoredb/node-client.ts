import { randomUUID } from 'node:crypto';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js';
import streams, { type AppendResp, type ReadReq, type ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import { credentials, Metadata, type ServiceError } from '@grpc/grpc-js';
import { streamIdentifier } from './calls/messages.ts';

/** A request of `$all`: where it begins, and in which direction it reads. */
export interface AllRead {
  /** Default: the start, or backwards the end. */
  readonly from?: number | 'end';
  readonly backwards?: boolean;
  readonly count?: number;
}

export interface NodeClientOptions {
  /** Default: true, as in the service. */
  readonly requiresLeader?: boolean;
  /** The end of a call that gets no answer. */
  readonly deadlineMs?: number;
}

/** A client of one node, which never looks for another one. */
export class NodeClient {
  readonly #stubs: StreamsClient;
  readonly #headers = new Metadata();
  readonly #deadlineMs: number;

  constructor(
    { port }: { readonly port: number },
    { requiresLeader = true, deadlineMs = 10_000 }: NodeClientOptions = {},
  ) {
    this.#stubs = new StreamsClient(`127.0.0.1:${port}`, credentials.createInsecure());
    this.#headers.set('requires-leader', String(requiresLeader));
    this.#deadlineMs = deadlineMs;
  }

  /** Appends an event at any revision. @returns its position; @throws ServiceError */
  append(stream: string, { data = '{}', id = randomUUID() as string } = {}): Promise<number> {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    const answered = (error: ServiceError | null, answer?: AppendResp) => {
      if (error === null) resolve(Number(answer?.getSuccess()?.getPosition()?.getCommitPosition()));
      else reject(error);
    };
    const call = this.#stubs.append(this.#headers, { deadline: Date.now() + this.#deadlineMs }, answered);
    call.on('error', () => {});
    const options = new streams.AppendReq.Options().setStreamIdentifier(streamIdentifier(stream));
    call.write(new streams.AppendReq().setOptions(options.setAny(new shared.Empty())));
    const event = new streams.AppendReq.ProposedMessage().setId(new shared.UUID().setString(id));
    event.setData(Buffer.from(data)).getMetadataMap().set('type', 'Tried').set('content-type', 'application/json');
    call.write(new streams.AppendReq().setProposedMessage(event));
    call.end();
    return promise;
  }

  /** The positions of the events that it shows. @throws ServiceError */
  async readAll({ from, backwards = false, count = 100_000 }: AllRead = {}): Promise<number[]> {
    const options = allOptions(from ?? (backwards ? 'end' : 0));
    options.setCount(String(count)).setReadDirection(backwards ? 1 : 0);
    const answers = await this.#read(new streams.ReadReq().setOptions(options));
    return answers.flatMap((answer) => positionOf(answer) ?? []);
  }

  /** The revisions that it shows of a stream. @throws ServiceError */
  async readStream(stream: string): Promise<number[]> {
    const from = new streams.ReadReq.Options.StreamOptions().setStreamIdentifier(streamIdentifier(stream));
    const options = readOptions().setStream(from.setStart(new shared.Empty())).setCount('100000');
    const answers = await this.#read(new streams.ReadReq().setOptions(options));
    return answers.flatMap((answer) => {
      const event = answer.getEvent()?.getEvent();
      return event === undefined ? [] : [Number(event.getStreamRevision())];
    });
  }

  /** Subscribes to `$all`. @param from default: the end */
  subscribe(from: number | 'end' = 'end'): NodeSubscription {
    const options = allOptions(from).setSubscription(new streams.ReadReq.Options.SubscriptionOptions());
    return new NodeSubscription(this.#stubs.read(new streams.ReadReq().setOptions(options), this.#headers));
  }

  close(): void {
    this.#stubs.close();
  }

  async #read(request: ReadReq): Promise<ReadResp[]> {
    const deadline = Date.now() + this.#deadlineMs;
    const call = this.#stubs.read(request, this.#headers, { deadline });
    return (await call.toArray()) as ReadResp[];
  }
}

/** A subscription of one node, with what it has sent. */
export class NodeSubscription {
  readonly positions: number[] = [];
  isConfirmed = false;
  failure: string | null = null;
  readonly #call: ReturnType<StreamsClient['read']>;

  constructor(call: ReturnType<StreamsClient['read']>) {
    this.#call = call;
    call.on('error', ({ message }) => {
      this.failure = message;
    });
    call.on('data', (answer: ReadResp) => {
      if (answer.hasConfirmation()) this.isConfirmed = true;
      const position = positionOf(answer);
      if (position !== undefined) this.positions.push(position);
    });
  }

  close(): void {
    this.#call.cancel();
  }
}

function readOptions(): InstanceType<typeof streams.ReadReq.Options> {
  const uuids = new streams.ReadReq.Options.UUIDOption().setString(new shared.Empty());
  return new streams.ReadReq.Options().setUuidOption(uuids).setNoFilter(new shared.Empty());
}

function allOptions(from: number | 'end'): InstanceType<typeof streams.ReadReq.Options> {
  const all = new streams.ReadReq.Options.AllOptions();
  const at = new streams.ReadReq.Options.Position().setCommitPosition(String(from)).setPreparePosition(String(from));
  if (from === 'end') all.setEnd(new shared.Empty());
  else if (from === 0) all.setStart(new shared.Empty());
  else all.setPosition(at);
  return readOptions().setAll(all);
}

function positionOf(answer: ReadResp): number | undefined {
  const event = answer.getEvent()?.getEvent();
  return event === undefined ? undefined : Number(event.getCommitPosition());
}
