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
import { answerDelete, answerTombstone, type Commit } from './calls/deletes.ts';
import { uuidMessage } from './calls/messages.ts';
import { type ReadRequest, readRequest } from './calls/read-request.ts';
import { answerRead, type InvalidPosition, type ReadCall } from './calls/reads.ts';
import { supportedMethods } from './calls/server-features.ts';
import { type SlowSubscribers, Subscription } from './calls/subscriptions.ts';
import { answerAppend } from './calls/unary-appends.ts';
import { EventLog } from './event-log.ts';
import { FaultyAppends } from './faults/append-faults.ts';
import { type CallFailure, notLeader, notReady } from './faults/failures.ts';
import { type Faults, noFaults } from './faults/faults.ts';
import { Front } from './front.ts';
import { LogIndex } from './log-index.ts';
import type { Endpoint, Membership } from './membership.ts';
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

const invalidPositionOf: Readonly<Record<ServerRelease, InvalidPosition>> = {
  '23.10': 'Error',
  '24': 'InvalidPosition',
};

export interface DoubleOptions {
  /** Default: 23.10. */
  readonly manner?: ServerRelease;
  /** Default: a new log. A log that two doubles share makes one server with two ports of them. */
  readonly log?: EventLog;
  /** What the node knows of its cluster. Default: it is alone, and the leader. */
  readonly membership?: (node: EventStoreDbDouble) => Membership;
  /** Where each append is synced before it is stored, as in a server. Default: nowhere. */
  readonly disk?: SyncedFile;
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
  #index: LogIndex;
  readonly #disk: SyncedFile | null;
  readonly #membership: (node: EventStoreDbDouble) => Membership;
  readonly #front = new Front();
  readonly #instanceId = crypto.randomUUID();
  readonly #subscriptions = new Set<Subscription>();
  readonly #isAlone: boolean;
  #server: Server | null = null;
  /** The position at which the next start cuts off the log; null: nowhere. */
  #cutOffAt: number | null = null;
  #calls = 0;
  readonly #callsByKind = noCalls();

  /** Starts a double, by default with an empty log. */
  static async start(options: DoubleOptions = {}): Promise<EventStoreDbDouble> {
    const double = new EventStoreDbDouble(options);
    await double.start();
    return double;
  }

  private constructor({ manner = '23.10', log, membership, disk }: DoubleOptions) {
    this.manner = manner;
    this.#disk = disk ?? null;
    this.#membership = membership ?? aloneInItsCluster;
    this.#isAlone = membership === undefined;
    this.#index = this.#indexOf(log ?? this.#emptyLog());
  }

  /** `esdb://127.0.0.1:{port}?tls=false`; it stays the same over restarts. */
  get url(): string {
    return `esdb://127.0.0.1:${this.port}?tls=false`;
  }

  get port(): number {
    return this.#front.port;
  }

  /** What it has written. */
  get log(): EventLog {
    return this.#index.log;
  }

  /** What it shows of its log. */
  get index(): LogIndex {
    return this.#index;
  }

  /** Where its clients reach it. */
  get endpoint(): Endpoint {
    return { host: '127.0.0.1', port: this.port };
  }

  /** False after it was killed or has ended. */
  get isRunning(): boolean {
    return this.#server !== null;
  }

  /** Whether its process has ended by itself, with 0, because its log has to be cut off. */
  get hasEnded(): boolean {
    return this.#cutOffAt !== null;
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
    if (this.#cutOffAt !== null) this.log.truncate(this.#cutOffAt);
    this.#cutOffAt = null;
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
   * Ends by itself, with 0, as a node that has events which its leader does not have. The next start cuts them off.
   * @param position from which on they are cut off
   */
  async endToCutOff(position: number): Promise<void> {
    this.#cutOffAt = position;
    await this.kill();
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
    this.#index = this.#indexOf(this.#emptyLog());
    await this.start();
  }

  #emptyLog(): EventLog {
    return new EventLog(() => this.now());
  }

  /** A node alone commits by itself. In a cluster a majority does. */
  #indexOf(log: EventLog): LogIndex {
    const index = new LogIndex(log);
    if (!this.#isAlone) return index;
    log.listen({ written: (end) => index.commit(end), rewritten: () => {} });
    index.commit(log.end);
    return index;
  }

  #addServices(server: Server): void {
    const appends = new FaultyAppends(this.#index, this.faults, () => this.cut(), this.#disk);
    server.addService(StreamsService, {
      append: (call: ServerReadableStream<AppendReq, AppendResp>, callback: sendUnaryData<AppendResp>) => {
        this.#count('append');
        const refusal = this.#refusal();
        if (refusal === null) answerAppend(call, callback, appends);
        else callback(refusal);
      },
      batchAppend: (call: ServerDuplexStream<BatchAppendReq, BatchAppendResp>) => {
        this.#count('append');
        new BatchAppendCall(call, appends, () => this.#refusal() === null);
      },
      delete: (call: ServerUnaryCall<DeleteReq, DeleteResp>, callback: sendUnaryData<DeleteResp>) => {
        this.#count('other');
        const refusal = this.#refusal();
        if (refusal === null) void answerDelete(call.request, callback, this.#commit);
        else callback(refusal);
      },
      tombstone: (call: ServerUnaryCall<TombstoneReq, TombstoneResp>, callback: sendUnaryData<TombstoneResp>) => {
        this.#count('other');
        const refusal = this.#refusal();
        if (refusal === null) void answerTombstone(call.request, callback, this.#commit);
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

  get #commit(): Commit {
    return { index: this.#index, timeoutMs: this.faults.commitTimeoutMs };
  }

  #count(kind: CallKind): void {
    this.#calls += 1;
    this.#callsByKind[kind] += 1;
  }

  /** The refusal of a call that needs the leader; null when this node is. */
  #refusal(): CallFailure | null {
    const { notReady: isNotReady, notLeader: refusal } = this.faults;
    if (isNotReady) return notReady();
    if (refusal !== null) return refusal;
    const { role, leader } = this.#membership(this);
    if (role === 'leader') return null;
    return leader === null ? notReady() : notLeader(leader);
  }

  async #read(call: ReadCall): Promise<void> {
    this.#count(kindOfRead(call.request));
    if (this.faults.silentReads) return;
    const needsLeader = call.metadata.get('requires-leader').includes('true');
    const refusal = () => (needsLeader ? this.#refusal() : null);
    const request = readRequest(call.request);
    if (request === null) return;
    if ('code' in request) return void call.emit('error', request);
    const refused = refusal();
    // A node that starts refuses every call. Another one confirms a subscription of `$all` even if the call needs the leader.
    const isOfAll = request.count === null && request.stream === null && !this.faults.notReady;
    if (refused !== null && !isOfAll) return void call.emit('error', refused);
    if (request.count === null) return this.#subscribe(call, request, refusal);
    await answerRead(call, this.#readIndex, request, invalidPositionOf[this.manner]);
  }

  /** A node that is not ready shows an empty log. */
  get #readIndex(): LogIndex {
    return this.faults.notReady ? new LogIndex(new EventLog(this.now, false)) : this.#index;
  }

  async #subscribe(call: ReadCall, request: ReadRequest, refusal: () => CallFailure | null): Promise<void> {
    const slowSubscribers = slowSubscribersOf[this.manner];
    const subscription = new Subscription(call, { index: this.#readIndex, request, slowSubscribers, refusal });
    this.#subscriptions.add(subscription);
    const over = () => this.#subscriptions.delete(subscription);
    call.on('close', over).on('cancelled', over);
    await subscription.run();
  }

  #clusterInfo(): InstanceType<typeof gossip.ClusterInfo> {
    const members = this.#membership(this).members.map(({ endpoint, role, isAlive }) =>
      new gossip.MemberInfo()
        .setInstanceId(uuidMessage(this.#instanceId, 'structured'))
        .setTimeStamp(`${Date.now()}0000`)
        .setState(stateOf[role])
        .setIsAlive(isAlive)
        .setHttpEndPoint(new gossip.EndPoint().setAddress(endpoint.host).setPort(endpoint.port)),
    );
    return new gossip.ClusterInfo().setMembersList(members);
  }
}

const { LEADER, FOLLOWER, UNKNOWN } = gossip.MemberInfo.VNodeState;

const stateOf = { leader: LEADER, follower: FOLLOWER, unknown: UNKNOWN } as const;

function aloneInItsCluster({ endpoint }: EventStoreDbDouble): Membership {
  return { role: 'leader', leader: endpoint, members: [{ endpoint, role: 'leader', isAlive: true }] };
}
