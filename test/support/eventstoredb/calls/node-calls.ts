import { GossipService } from '@eventstore/db-client/generated/gossip_grpc_pb.js';
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
import type {
  Metadata,
  Server,
  ServerDuplexStream,
  ServerReadableStream,
  ServerUnaryCall,
  sendUnaryData,
} from '@grpc/grpc-js';
import type { Access } from '#test/support/eventstoredb/access.ts';
import { EventLog } from '#test/support/eventstoredb/event-log.ts';
import { FaultyAppends } from '#test/support/eventstoredb/faults/append-faults.ts';
import { type CallFailure, notLeader, notReady } from '#test/support/eventstoredb/faults/failures.ts';
import type { Faults } from '#test/support/eventstoredb/faults/faults.ts';
import type { Gate } from '#test/support/eventstoredb/gate.ts';
import { LogIndex } from '#test/support/eventstoredb/log-index.ts';
import type { Membership } from '#test/support/eventstoredb/membership.ts';
import type { SyncedFile } from '#test/support/eventstoredb/synced-file.ts';
import { BatchAppendCall } from './batch-appends.ts';
import { type CallKind, kindOfRead, noCalls } from './call-kind.ts';
import { answerDelete, answerTombstone, type Commit } from './deletes.ts';
import { clusterInfo } from './gossip.ts';
import type { SizeLimits } from './proposed-events.ts';
import { type ReadRequest, readRequest } from './read-request.ts';
import { answerRead, type InvalidPosition, type ReadCall } from './reads.ts';
import { supportedMethods } from './server-features.ts';
import { type SlowSubscribers, Subscription } from './subscriptions.ts';
import { answerAppend } from './unary-appends.ts';

/** The behaviour in which releases differ. */
export interface Manner {
  readonly slowSubscribers: SlowSubscribers;
  readonly invalidPosition: InvalidPosition;
}

export interface NodeCallsOptions {
  readonly index: LogIndex;
  readonly faults: Faults;
  readonly access: Access;
  readonly limits: SizeLimits;
  /** Where calls wait while the node pauses. */
  readonly gate: Gate;
  readonly disk: SyncedFile | null;
  readonly manner: () => Manner;
  readonly membership: () => Membership;
  /** Breaks every connection. */
  readonly cut: () => void;
}

/** Answers the calls of a node's clients, and counts them. */
export class NodeCalls {
  readonly subscriptions = new Set<Subscription>();
  readonly callsByKind = noCalls();
  readonly #options: NodeCallsOptions;

  constructor(options: NodeCallsOptions) {
    this.#options = options;
  }

  /** Answers the calls of a server that does not run yet. */
  serve(server: Server): void {
    const { index, faults, access, limits, gate, disk, cut } = this.#options;
    const appends = new FaultyAppends(index, faults, cut, disk);
    server.addService(StreamsService, {
      append: (call: ServerReadableStream<AppendReq, AppendResp>, callback: sendUnaryData<AppendResp>) =>
        this.#write('append', call, callback, () => answerAppend(call, callback, appends, limits)),
      batchAppend: (call: ServerDuplexStream<BatchAppendReq, BatchAppendResp>) => {
        this.callsByKind.append += 1;
        gate.run(() => {
          const denied = access.refusalOf(call.metadata, 'write');
          if (denied === null) new BatchAppendCall(call, appends, () => this.#notLeader === null, limits);
          else call.emit('error', denied);
        });
      },
      delete: (call: ServerUnaryCall<DeleteReq, DeleteResp>, callback: sendUnaryData<DeleteResp>) =>
        this.#write('other', call, callback, () => answerDelete(call.request, callback, this.#commit)),
      tombstone: (call: ServerUnaryCall<TombstoneReq, TombstoneResp>, callback: sendUnaryData<TombstoneResp>) =>
        this.#write('other', call, callback, () => answerTombstone(call.request, callback, this.#commit)),
      read: (call: ReadCall) => {
        this.callsByKind[kindOfRead(call.request)] += 1;
        gate.run(() => void this.#read(call));
      },
    });
    server.addService(ServerFeaturesService, {
      getSupportedMethods: (_call: unknown, callback: sendUnaryData<ReturnType<typeof supportedMethods>>) =>
        gate.run(() => callback(null, supportedMethods())),
    });
    server.addService(GossipService, {
      read: (_call: unknown, callback: sendUnaryData<ReturnType<typeof clusterInfo>>) =>
        gate.run(() => callback(null, clusterInfo(this.#options.membership().members))),
    });
  }

  get #commit(): Commit {
    return { index: this.#options.index, timeoutMs: this.#options.faults.commitTimeoutMs };
  }

  #write<Answer>(
    kind: CallKind,
    { metadata }: { readonly metadata: Metadata },
    callback: sendUnaryData<Answer>,
    answer: () => unknown,
  ): void {
    const { access, gate } = this.#options;
    this.callsByKind[kind] += 1;
    gate.run(() => {
      const refusal = access.refusalOf(metadata, 'write') ?? this.#notLeader;
      if (refusal === null) answer();
      else callback(refusal);
    });
  }

  /** The refusal of a call that needs the leader; null when this node is. */
  get #notLeader(): CallFailure | null {
    const { faults, membership } = this.#options;
    if (faults.notReady) return notReady();
    if (faults.notLeader !== null) return faults.notLeader;
    const { role, leader } = membership();
    if (role === 'leader') return null;
    return leader === null ? notReady() : notLeader(leader);
  }

  async #read(call: ReadCall): Promise<void> {
    const { faults, access, manner } = this.#options;
    if (faults.silentReads) return;
    const denied = access.refusalOf(call.metadata, 'read');
    if (denied !== null) return void call.emit('error', denied);
    const needsLeader = call.metadata.get('requires-leader').includes('true');
    const refusal = () => (needsLeader ? this.#notLeader : null);
    const request = readRequest(call.request);
    if (request === null) return;
    if ('code' in request) return void call.emit('error', request);
    const refused = refusal();
    // A node that starts refuses every call. Any other node confirms a subscription of `$all`, even one that needs the
    // leader.
    const isOfAll = request.count === null && request.stream === null && !faults.notReady;
    if (refused !== null && !isOfAll) return void call.emit('error', refused);
    if (request.count === null) return this.#subscribe(call, request, refusal);
    await answerRead(call, this.#readIndex, request, manner().invalidPosition);
  }

  /** A node that is not ready shows an empty log. */
  get #readIndex(): LogIndex {
    const { faults, index } = this.#options;
    return faults.notReady ? new LogIndex(new EventLog(Date.now, false)) : index;
  }

  async #subscribe(call: ReadCall, request: ReadRequest, refusal: () => CallFailure | null): Promise<void> {
    const { slowSubscribers } = this.#options.manner();
    const subscription = new Subscription(call, { index: this.#readIndex, request, slowSubscribers, refusal });
    this.subscriptions.add(subscription);
    const over = () => this.subscriptions.delete(subscription);
    call.on('close', over).on('cancelled', over);
    await subscription.run();
  }
}
