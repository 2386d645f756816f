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
import { type CallKind, kindOfRead, noCalls } from './calls/call-kind.ts';
import { answerDelete, answerTombstone } from './calls/deletes.ts';
import { uuidMessage } from './calls/messages.ts';
import { readRequest } from './calls/read-request.ts';
import { answerRead, type ReadCall } from './calls/reads.ts';
import { supportedMethods } from './calls/server-features.ts';
import { type SlowSubscribers, Subscription } from './calls/subscriptions.ts';
import { answerAppend } from './calls/unary-appends.ts';
import { EventLog } from './event-log.ts';
import { FaultyAppends } from './faults/append-faults.ts';
import { notReady } from './faults/failures.ts';
import { type Faults, noFaults } from './faults/faults.ts';
import { Front } from './front.ts';
import type { SyncedFile } from './synced-file.ts';

/** How long a real server lets open calls run after SIGTERM. */
const stoppingMs = 5_000;

/** The behaviour in which releases differ. */
export type ServerRelease = '23.10' | '24';

export const serverReleases: ReadonlyArray<ServerRelease> = ['23.10', '24'];

const slowSubscribersOf: Readonly<Record<ServerRelease, SlowSubscribers>> = {
  '23.10': 'dropped',
  '24': 'caught-up-again',
};

export interface DoubleOptions {
  /** Default: 23.10. */
  readonly manner?: ServerRelease;
  /** The log of the node's cluster. Default: a new log. */
  readonly log?: EventLog;
  /** The members of its cluster. Default: this node, as the leader. */
  readonly members?: () => ReadonlyArray<ClusterMember>;
  /** Where each append is synced before it is stored, as in a server. Default: nowhere. */
  readonly disk?: SyncedFile;
}

/** A node as the cluster's members describe it. */
export interface ClusterMember {
  readonly port: number;
  readonly state: 'leader' | 'follower';
  readonly isAlive: boolean;
}

/**
 * A double of EventStoreDB: speaks its protocol on a port of this machine, keeps its log in memory, and fails on demand.
 * One insecure node, which behaves like 23.10 or like 24 and later.
 */
export class EventStoreDbDouble {
  /** The faults of its calls. A test may change them at any time. */
  readonly faults: Faults = noFaults();
  /** Its behaviour towards slow subscribers of `$all`. A test may change it at any time. */
  manner: ServerRelease;
  /** Milliseconds since 1970, by which events age. */
  now: () => number = Date.now;
  #log: EventLog;
  readonly #disk: SyncedFile | null;
  readonly #members: () => ReadonlyArray<ClusterMember>;
  readonly #front = new Front();
  readonly #instanceId = crypto.randomUUID();
  readonly #subscriptions = new Set<Subscription>();
  #server: Server | null = null;
  #calls = 0;
  readonly #callsByKind = noCalls();

  /** Starts a double, by default with an empty log. */
  static async start(options: DoubleOptions = {}): Promise<EventStoreDbDouble> {
    const double = new EventStoreDbDouble(options);
    await double.start();
    return double;
  }

  private constructor({ manner = '23.10', log, members, disk }: DoubleOptions) {
    this.manner = manner;
    this.#disk = disk ?? null;
    this.#log = log ?? new EventLog(() => this.now());
    this.#members = members ?? (() => [{ port: this.port, state: 'leader', isAlive: true }]);
  }

  /** `esdb://127.0.0.1:{port}?tls=false`; it stays the same over restarts. */
  get url(): string {
    return `esdb://127.0.0.1:${this.port}?tls=false`;
  }

  get port(): number {
    return this.#front.port;
  }

  /** The stored events. */
  get log(): EventLog {
    return this.#log;
  }

  /** The number of calls so far. */
  get calls(): number {
    return this.#calls;
  }

  /** The number of calls so far, by kind. */
  get callsByKind(): Readonly<Record<CallKind, number>> {
    return { ...this.#callsByKind };
  }

  /** The number of open subscriptions. */
  get subscriptions(): number {
    return this.#subscriptions.size;
  }

  /** Starts or restarts with the same log on the same port. */
  async start(): Promise<void> {
    const server = new Server({
      // As in a real server; a client's further calls wait.
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

  /** Ends at once, as by SIGKILL: connections are reset. The log is kept. */
  async kill(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    await this.#front.close();
    server?.forceShutdown();
    this.#subscriptions.clear();
  }

  /**
   * Stops as by SIGTERM: refuses new connections, lets open calls and batches run for a while, and then resets the
   * connections.
   * @param milliseconds for which open calls may run
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

  /** Resumes after `freeze`. */
  thaw(): void {
    this.#front.thaw();
  }

  /** Answers new connections. Frozen connections stay frozen. */
  thawNewConnections(): void {
    this.#front.thawNew();
  }

  /** Breaks every connection, and accepts new ones. */
  cut(): void {
    this.#front.cut();
  }

  /** Drops every live subscriber, as a server drops slow ones. */
  dropSubscribers(): void {
    for (const subscription of [...this.#subscriptions]) subscription.drop();
  }

  /** Restarts with an empty log. */
  async reset(): Promise<void> {
    await this.kill();
    this.#log = new EventLog(() => this.now());
    await this.start();
  }

  #addServices(server: Server): void {
    const appends = new FaultyAppends(this.#log, this.faults, () => this.cut(), this.#disk);
    server.addService(StreamsService, {
      append: (call: ServerReadableStream<AppendReq, AppendResp>, callback: sendUnaryData<AppendResp>) => {
        const refusal = this.#refusal('append');
        if (refusal === null) answerAppend(call, callback, appends);
        else callback(refusal);
      },
      batchAppend: (call: ServerDuplexStream<BatchAppendReq, BatchAppendResp>) => {
        this.#count('append');
        new BatchAppendCall(call, appends, this.faults);
      },
      delete: (call: ServerUnaryCall<DeleteReq, DeleteResp>, callback: sendUnaryData<DeleteResp>) => {
        const refusal = this.#refusal('other');
        if (refusal === null) answerDelete(call.request, callback, this.#log);
        else callback(refusal);
      },
      tombstone: (call: ServerUnaryCall<TombstoneReq, TombstoneResp>, callback: sendUnaryData<TombstoneResp>) => {
        const refusal = this.#refusal('other');
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
        callback(null, this.#clusterInfo());
      },
    });
  }

  #count(kind: CallKind): void {
    this.#calls += 1;
    this.#callsByKind[kind] += 1;
  }

  #refusal(kind: CallKind) {
    this.#count(kind);
    return this.faults.notReady ? notReady() : this.faults.notLeader;
  }

  async #read(call: ReadCall): Promise<void> {
    this.#count(kindOfRead(call.request));
    if (this.faults.silentReads) return;
    const needsLeader = call.metadata.get('requires-leader').includes('true');
    if (this.faults.notReady && needsLeader) return void call.emit('error', notReady());
    if (this.faults.notLeader !== null && needsLeader) return void call.emit('error', this.faults.notLeader);
    const log = this.faults.notReady ? new EventLog(this.now, false) : this.#log;
    const request = readRequest(call.request);
    if (request === null) return;
    if ('code' in request) return void call.emit('error', request);
    if (request.count !== null) return answerRead(call, log, request);
    const subscription = new Subscription(call, log, request, slowSubscribersOf[this.manner]);
    this.#subscriptions.add(subscription);
    const over = () => this.#subscriptions.delete(subscription);
    call.on('close', over).on('cancelled', over);
    await subscription.run();
  }

  #clusterInfo(): InstanceType<typeof gossip.ClusterInfo> {
    const { LEADER, FOLLOWER } = gossip.MemberInfo.VNodeState;
    const members = this.#members().map(({ port, state, isAlive }) =>
      new gossip.MemberInfo()
        .setInstanceId(uuidMessage(this.#instanceId, 'structured'))
        .setTimeStamp(`${Date.now()}0000`)
        .setState(state === 'leader' ? LEADER : FOLLOWER)
        .setIsAlive(isAlive)
        .setHttpEndPoint(new gossip.EndPoint().setAddress('127.0.0.1').setPort(port)),
    );
    return new gossip.ClusterInfo().setMembersList(members);
  }
}
