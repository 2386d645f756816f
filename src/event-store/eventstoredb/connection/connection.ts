import { EventStoreDBClient, UnavailableError } from '@eventstore/db-client';
import { GossipClient } from '@eventstore/db-client/generated/gossip_grpc_pb.js';
import type { ClusterInfo } from '@eventstore/db-client/generated/gossip_pb.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js';
import type { AppendReq, AppendResp, DeleteReq, ReadReq } from '@eventstore/db-client/generated/streams_pb.js';
import { withTimeoutError } from '#shared/async/timed-waits.ts';
import { StartupError } from '#shared/errors/startup-error.ts';
import { callFailure, isBroken, isSilence, TimedOutError } from './call-failure.ts';
import { connectionUrl } from './connection-url.ts';

type AppendCall = ReturnType<StreamsClient['append']>;
type AppendArguments = Parameters<StreamsClient['append']>;
type CallArguments = [metadata: AppendArguments[0], options: { deadline: Date | number }];

/** A connection to one node. After a failure, or to find the leader, the client makes a new one. */
interface Channel {
  close(): void;
}

/** A running read: an object-mode stream of answers. */
export type ReadCall = ReturnType<StreamsClient['read']>;

/**
 * The parts of the client's own commands (6.2.1, pinned), which only its types hide. We use them because the commands
 * cannot do what we need. The commands send appends in a batch, which one lost connection breaks for every client of
 * the process, unless the call has credentials, which not every server uses. Reads have no deadline. No command stores
 * a JSON text unchanged.
 */
interface ClientParts {
  execute<Stubs extends StreamsClient | GossipClient, Value>(
    stubs: new (...address: ConstructorParameters<typeof StreamsClient>) => Stubs,
    name: string,
    action: (client: Stubs) => Promise<Value>,
  ): Promise<Value>;
  GRPCStreamCreator(
    stubs: typeof StreamsClient,
    name: string,
    creator: (client: StreamsClient) => ReadCall,
  ): () => Promise<ReadCall>;
  callArguments(options: { requiresLeader: boolean }, callOptions: { deadline: Date | number }): CallArguments;
  getChannel(): Promise<Channel>;
  handleError(client: StreamsClient, error: Error): Promise<void>;
}

/**
 * A node that is not the leader, or not ready, answers reads from its own data: an existing stream may be "not found",
 * and a subscription "caught up" without events. With this option it refuses instead.
 */
const leaderOnly = { requiresLeader: true };

/** How long `close` waits for the client's streams to end. */
const closeLimitMs = 2_000;

/** One client: finds the node, connects, and connects again when a connection fails. Every call has a deadline. */
export class Connection {
  readonly #client: EventStoreDBClient;
  readonly #parts: ClientParts;
  #channel: Promise<Channel> | null = null;
  /** The channel of the newest call. */
  #current: Channel | null = null;
  readonly #moveListeners = new Set<() => void>();
  #stubs: StreamsClient | null = null;
  #lastAnswerAt = 0;
  #closed = false;

  /** @param url see `connectionUrl`; @throws StartupError */
  constructor(url: string) {
    this.#client = clientFor(connectionUrl(url));
    this.#parts = this.#client as unknown as ClientParts;
    this.#rememberChannel();
    this.#containErrors();
  }

  /**
   * Appends once.
   * @throws the call's failure, or TimedOutError: either way it may have been stored
   */
  append(requests: ReadonlyArray<AppendReq>, deadlineMs: number): Promise<AppendResp> {
    const end = Date.now() + deadlineMs;
    const answer = this.#parts.execute(StreamsClient, 'append', (stubs) => this.#append(stubs, requests, end));
    return this.#watched(deadlineMs, answer);
  }

  /**
   * Deletes a stream, once.
   * @throws the call's failure, or TimedOutError: either way it may be deleted
   */
  delete(request: DeleteReq, deadlineMs: number): Promise<void> {
    const deadline = new Date(Date.now() + deadlineMs);
    const answer = this.#parts.execute(StreamsClient, 'delete', (stubs) => this.#delete(stubs, request, deadline));
    return this.#watched(deadlineMs, answer);
  }

  /**
   * Begins a read, which fails at its deadline. Destroy it when it is not needed any more.
   * @param deadlineMs the time until its last answer; null for a subscription
   * @param startMs the time until the call is sent
   * @throws TimedOutError
   */
  async read(request: ReadReq, deadlineMs: number | null, startMs: number): Promise<ReadCall> {
    const deadline = deadlineMs === null ? Number.POSITIVE_INFINITY : new Date(Date.now() + deadlineMs);
    const open = this.#parts.GRPCStreamCreator(StreamsClient, 'read', (stubs) => {
      this.#stubs = stubs;
      return stubs.read(request, ...this.#parts.callArguments(leaderOnly, { deadline }));
    });
    const opening = open();
    try {
      const call = await within(startMs, opening);
      if (!this.#closed) return call;
    } catch (error) {
      // Ends a call that opens after the timeout.
      opening.then(endCall, () => {});
      throw error;
    }
    opening.then(endCall, () => {});
    throw new UnavailableError();
  }

  /**
   * Reads what the node knows about its cluster. A node without a leader answers too.
   * @throws the call's failure, or TimedOutError
   */
  gossip(deadlineMs: number): Promise<ClusterInfo> {
    const deadline = new Date(Date.now() + deadlineMs);
    const [metadata, options] = this.#parts.callArguments({ requiresLeader: false }, { deadline });
    const answer = this.#parts.execute(GossipClient, 'gossip', (stubs) => {
      return new Promise<ClusterInfo>((resolve, reject) => {
        stubs.read(new shared.Empty(), metadata, options, (error, info) => {
          if (error !== null) reject(error);
          else resolve(info);
        });
      });
    });
    return within(deadlineMs + 100, answer);
  }

  /** Must be called after a read is answered, because this shows that the connection works. */
  answered(): void {
    this.#lastAnswerAt = Date.now();
  }

  /**
   * Must be called when a call failed. If the connection itself may be broken, the next call gets a new one, because
   * the
   * client notices that only when a call fails with "unavailable". Calls on the old connection continue.
   * @param waitedMs how long the call waited
   */
  failed(error: unknown, waitedMs: number): void {
    const failure = callFailure(error);
    // Without an open call there are no pings that would show that the connection is dead.
    if (isSilence(failure) ? Date.now() - this.#lastAnswerAt >= waitedMs : isBroken(failure)) this.#renew();
  }

  /**
   * Calls a listener when calls go over a new channel: to another node, or to the same one after a failure.
   * @returns a function that removes the listener
   */
  onMove(listener: () => void): () => void {
    this.#moveListeners.add(listener);
    return () => this.#moveListeners.delete(listener);
  }

  /** Ends every call and leaves nothing open. */
  async close(): Promise<void> {
    this.#closed = true;
    await within(closeLimitMs, this.#client.dispose()).catch(() => {});
    // The client does not close this channel itself.
    await within(closeLimitMs, this.#channel ?? Promise.resolve(null)).then(
      (channel) => channel?.close(),
      () => {},
    );
  }

  #append(stubs: StreamsClient, requests: ReadonlyArray<AppendReq>, end: number): Promise<AppendResp> {
    this.#stubs = stubs;
    return new Promise((resolve, reject) => {
      if (this.#closed) return reject(new UnavailableError());
      const [metadata, options] = this.#parts.callArguments(leaderOnly, { deadline: new Date(end) });
      const call: AppendCall = stubs.append(metadata, options, (error, answer) => {
        if (error !== null) reject(error);
        else resolve(answer);
      });
      // The callback of the answer gets the error.
      call.on('error', () => {});
      for (const request of requests) call.write(request);
      call.end();
    });
  }

  #delete(stubs: StreamsClient, request: DeleteReq, deadline: Date): Promise<void> {
    this.#stubs = stubs;
    return new Promise((resolve, reject) => {
      if (this.#closed) return reject(new UnavailableError());
      stubs.delete(request, ...this.#parts.callArguments(leaderOnly, { deadline }), (error) => {
        if (error !== null) reject(error);
        else resolve();
      });
    });
  }

  async #watched<Value>(deadlineMs: number, answer: Promise<Value>): Promise<Value> {
    try {
      // The call's own deadline does not count the search for a node.
      const value = await within(deadlineMs + 100, answer);
      this.answered();
      return value;
    } catch (error) {
      this.failed(error, deadlineMs);
      throw error;
    }
  }

  #renew(): void {
    if (this.#stubs === null) return;
    this.#lastAnswerAt = Date.now();
    void this.#parts.handleError(this.#stubs, new UnavailableError());
    this.#stubs = null;
  }

  #rememberChannel(): void {
    const getChannel = this.#parts.getChannel;
    this.#parts.getChannel = () => {
      const channel = getChannel();
      this.#channel = channel;
      // The caller that awaits the channel gets the error when none is found.
      channel.then(
        (opened) => this.#use(opened),
        () => {},
      );
      return channel;
    };
  }

  #use(channel: Channel): void {
    const isMove = this.#current !== null && this.#current !== channel;
    this.#current = channel;
    if (isMove) for (const listener of [...this.#moveListeners]) listener();
  }

  /** The client does not await this function, so an error would end the process. */
  #containErrors(): void {
    const handleError = this.#parts.handleError;
    this.#parts.handleError = (client, error) => handleError(client, error).catch(() => {});
  }
}

/** Cancels a call and ignores further answers. */
export function endCall(call: ReadCall): void {
  call.on('error', () => {});
  call.cancel();
}

function clientFor(url: string): EventStoreDBClient {
  try {
    return EventStoreDBClient.connectionString(url);
  } catch (error) {
    // The message may quote the URL with its password, so only messages about a file are passed on.
    const message = error instanceof Error && /certificate|userCertFile/.test(error.message) ? error.message : '';
    throw new StartupError(`The event store URL cannot be used. ${message || 'Check its hosts and options.'}`);
  }
}

/** @throws TimedOutError if the promise does not settle in time */
function within<Value>(milliseconds: number, promise: Promise<Value>): Promise<Value> {
  return withTimeoutError(milliseconds, promise, () => new TimedOutError(milliseconds));
}
