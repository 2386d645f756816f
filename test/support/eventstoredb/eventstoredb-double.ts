import { GossipService } from '@eventstore/db-client/generated/gossip_grpc_pb.js';
import gossip from '@eventstore/db-client/generated/gossip_pb.js';
import { ServerFeaturesService } from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js';
import { StreamsService } from '@eventstore/db-client/generated/streams_grpc_pb.js';
import type {
  AppendReq,
  AppendResp,
  BatchAppendReq,
  BatchAppendResp,
  DeleteReq,
  DeleteResp,
  TombstoneReq,
  TombstoneResp,
} from '@eventstore/db-client/generated/streams_pb.js';
import {
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  type ServerReadableStream,
  type ServerUnaryCall,
  type sendUnaryData,
} from '@grpc/grpc-js';
import { BatchAppendCall } from './calls/batch-appends.ts';
import { answerDelete, answerTombstone } from './calls/deletes.ts';
import { uuidMessage } from './calls/messages.ts';
import { readRequest } from './calls/read-request.ts';
import { answerRead, type ReadCall } from './calls/reads.ts';
import { supportedMethods } from './calls/server-features.ts';
import { Subscription } from './calls/subscriptions.ts';
import { answerAppend } from './calls/unary-appends.ts';
import { EventLog } from './event-log.ts';
import { FaultyAppends } from './faults/append-faults.ts';
import { notReady } from './faults/failures.ts';
import { type Faults, noFaults } from './faults/faults.ts';
import { Front } from './front.ts';

/** How long a real server that was told to stop lets open calls go on. */
const stoppingMs = 5_000;

/**
 * A double of EventStoreDB 23.10: speaks its protocol on a port of this machine, keeps its log in memory, and fails on
 * demand. One node, insecure.
 */
export class EventStoreDbDouble {
  /** What goes wrong in its calls; changed at any time. */
  readonly faults: Faults = noFaults();
  /** Milliseconds since 1970, by which events age. */
  now: () => number = Date.now;
  #log = new EventLog(() => this.now());
  readonly #front = new Front();
  readonly #instanceId = crypto.randomUUID();
  readonly #subscriptions = new Set<Subscription>();
  #server: Server | null = null;
  #calls = 0;

  /** Starts one with an empty log. */
  static async start(): Promise<EventStoreDbDouble> {
    const double = new EventStoreDbDouble();
    await double.start();
    return double;
  }

  /** `esdb://127.0.0.1:{port}?tls=false`; the same through every stop and start. */
  get url(): string {
    return `esdb://127.0.0.1:${this.port}?tls=false`;
  }

  get port(): number {
    return this.#front.port;
  }

  /** What is stored. */
  get log(): EventLog {
    return this.#log;
  }

  /** Calls that came in so far. */
  get calls(): number {
    return this.#calls;
  }

  /** Subscriptions that are open. */
  get subscriptions(): number {
    return this.#subscriptions.size;
  }

  /** Starts, or starts again with the same log on the same port. */
  async start(): Promise<void> {
    const server = new Server({
      // As a real one; a client's further calls wait.
      'grpc.max_concurrent_streams': 100,
      'grpc.max_receive_message_length': -1,
      'grpc.max_send_message_length': -1,
    });
    this.#addServices(server);
    const port = await new Promise<number>((resolve, reject) => {
      server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
        error === null ? resolve(bound) : reject(error),
      );
    });
    this.#server = server;
    await this.#front.open(port);
  }

  /** Dies at once, as by SIGKILL: connections are reset. The log stays. */
  async kill(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    await this.#front.close();
    server?.forceShutdown();
    this.#subscriptions.clear();
  }

  /**
   * Stops as by SIGTERM: takes no more connections; open calls, batches among them, go on for a while; then connections
   * are reset.
   * @param milliseconds that open calls go on
   */
  async stop(milliseconds = stoppingMs): Promise<void> {
    await this.#front.refuse();
    const server = this.#server;
    const shutDown = new Promise<void>((resolve) => {
      if (server === null) resolve();
      else server.tryShutdown(() => resolve());
    });
    const limit = new Promise<void>((resolve) => setTimeout(resolve, milliseconds));
    await Promise.race([shutDown, limit]);
    await this.kill();
  }

  /** Answers nothing, not even pings, as by SIGSTOP. */
  freeze(): void {
    this.#front.freeze();
  }

  /** Goes on where it froze. */
  thaw(): void {
    this.#front.thaw();
  }

  /** New connections are answered; those that were frozen stay so. */
  thawNewConnections(): void {
    this.#front.thawNew();
  }

  /** Breaks every connection; new ones are taken. */
  cut(): void {
    this.#front.cut();
  }

  /** Drops every live subscriber as one that is too slow. */
  dropSubscribers(): void {
    for (const subscription of [...this.#subscriptions]) subscription.drop();
  }

  /** Empties the log, as a new server on an empty folder. */
  async reset(): Promise<void> {
    await this.kill();
    this.#log = new EventLog(() => this.now());
    await this.start();
  }

  #addServices(server: Server): void {
    const appends = new FaultyAppends(this.#log, this.faults, () => this.cut());
    server.addService(StreamsService, {
      append: (call: ServerReadableStream<AppendReq, AppendResp>, callback: sendUnaryData<AppendResp>) => {
        const refusal = this.#refusal();
        if (refusal === null) answerAppend(call, callback, appends);
        else callback(refusal);
      },
      batchAppend: (call: ServerDuplexStream<BatchAppendReq, BatchAppendResp>) => {
        this.#calls += 1;
        new BatchAppendCall(call, appends, this.faults);
      },
      delete: (call: ServerUnaryCall<DeleteReq, DeleteResp>, callback: sendUnaryData<DeleteResp>) => {
        const refusal = this.#refusal();
        if (refusal === null) answerDelete(call.request, callback, this.#log);
        else callback(refusal);
      },
      tombstone: (call: ServerUnaryCall<TombstoneReq, TombstoneResp>, callback: sendUnaryData<TombstoneResp>) => {
        const refusal = this.#refusal();
        if (refusal === null) answerTombstone(call.request, callback, this.#log);
        else callback(refusal);
      },
      read: (call: ReadCall) => void this.#read(call),
    });
    server.addService(ServerFeaturesService, {
      getSupportedMethods: (_call: unknown, callback: sendUnaryData<ReturnType<typeof supportedMethods>>) => {
        callback(null, supportedMethods());
      },
    });
    server.addService(GossipService, {
      read: (_call: unknown, callback: sendUnaryData<InstanceType<typeof gossip.ClusterInfo>>) => {
        callback(null, this.#members());
      },
    });
  }

  #refusal() {
    this.#calls += 1;
    return this.faults.notReady ? notReady() : this.faults.notLeader;
  }

  async #read(call: ReadCall): Promise<void> {
    this.#calls += 1;
    if (this.faults.silentReads) return;
    const needsLeader = call.metadata.get('requires-leader').includes('true');
    if (this.faults.notReady && needsLeader) return void call.emit('error', notReady());
    const log = this.faults.notReady ? new EventLog(this.now, false) : this.#log;
    const request = readRequest(call.request);
    if (request === null) return;
    if ('code' in request) return void call.emit('error', request);
    if (request.count !== null) return answerRead(call, log, request);
    const subscription = new Subscription(call, log, request);
    this.#subscriptions.add(subscription);
    const over = () => this.#subscriptions.delete(subscription);
    call.on('close', over).on('cancelled', over);
    await subscription.run();
  }

  #members(): InstanceType<typeof gossip.ClusterInfo> {
    const member = new gossip.MemberInfo()
      .setInstanceId(uuidMessage(this.#instanceId, 'structured'))
      .setTimeStamp(`${Date.now()}0000`)
      .setState(gossip.MemberInfo.VNodeState.LEADER)
      .setIsAlive(true)
      .setHttpEndPoint(new gossip.EndPoint().setAddress('127.0.0.1').setPort(this.port));
    return new gossip.ClusterInfo().setMembersList([member]);
  }
}
