import { setTimeout as sleep } from 'node:timers/promises';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { Access } from './access.ts';
import type { CallKind } from './calls/call-kind.ts';
import { type Manner, NodeCalls } from './calls/node-calls.ts';
import { defaultSizeLimits, type SizeLimits } from './calls/proposed-events.ts';
import type { Certificate } from './certificate.ts';
import { EventLog, type LogCopy } from './event-log.ts';
import { type Faults, noFaults } from './faults/faults.ts';
import { Front } from './front.ts';
import { Gate } from './gate.ts';
import { LogIndex } from './log-index.ts';
import type { Endpoint, Membership } from './membership.ts';
import type { SyncedFile } from './synced-file.ts';

/** How long a real server lets open calls run after SIGTERM. */
const stoppingMs = 5_000;

/** The behaviour in which releases differ. */
export type ServerRelease = '23.10' | '24';

export const serverReleases: ReadonlyArray<ServerRelease> = ['23.10', '24'];

const mannerOf: Readonly<Record<ServerRelease, Manner>> = {
  '23.10': { slowSubscribers: 'dropped', invalidPosition: 'Error' },
  '24': { slowSubscribers: 'caught-up-again', invalidPosition: 'InvalidPosition' },
};

export interface DoubleOptions {
  /** Default: 23.10. */
  readonly manner?: ServerRelease;
  /** Default: a new log. A log that two doubles share makes one server with two ports of them. */
  readonly log?: EventLog;
  /** What the node knows of its cluster. Default: it is alone, and the leader. */
  readonly membership?: (node: EventStoreDbDouble) => Membership;
  /** Whether what it writes is committed without other nodes. Default: true. */
  readonly commitsAlone?: boolean;
  /** Where each append is synced before it is stored, as in a server. Default: nowhere. */
  readonly disk?: SyncedFile;
  /** Default: none, without TLS. */
  readonly certificate?: Certificate;
}

/**
 * A double of EventStoreDB: speaks its protocol on a port of this machine, keeps its log in memory, and fails on demand.
 * One insecure node, which behaves like 23.10 or like 24 and later.
 */
export class EventStoreDbDouble {
  /** The faults of its calls. A test may change them at any time. */
  readonly faults: Faults = noFaults();
  readonly instanceId = crypto.randomUUID();
  /** Its behaviour towards slow subscribers of `$all`. A test may change it at any time. */
  manner: ServerRelease;
  /** Milliseconds since 1970, by which events age. */
  now: () => number = Date.now;
  /** Who may do what. A test may change it at any time. */
  readonly access = new Access();
  /** A test may change them at any time. */
  readonly limits: SizeLimits = defaultSizeLimits();
  readonly #index: LogIndex;
  readonly #certificate: Certificate | null;
  readonly #front = new Front();
  readonly #gate = new Gate();
  readonly #calls: NodeCalls;
  readonly #commitsAlone: boolean;
  #server: Server | null = null;
  /** The position at which the next start cuts off the log; null: nowhere. */
  #cutOffAt: number | null = null;

  /** Starts a double, by default with an empty log. */
  static async start(options: DoubleOptions = {}): Promise<EventStoreDbDouble> {
    const double = new EventStoreDbDouble(options);
    await double.start();
    return double;
  }

  private constructor(options: DoubleOptions) {
    const { manner = '23.10', log, membership = aloneInItsCluster, commitsAlone = true, disk, certificate } = options;
    this.manner = manner;
    this.#certificate = certificate ?? null;
    this.#commitsAlone = commitsAlone;
    this.#index = this.#indexOf(log ?? this.#emptyLog());
    this.#calls = new NodeCalls({
      index: this.#index,
      faults: this.faults,
      access: this.access,
      limits: this.limits,
      gate: this.#gate,
      disk: disk ?? null,
      manner: () => mannerOf[this.manner],
      membership: () => membership(this),
      cut: () => this.cut(),
    });
  }

  /** `esdb://127.0.0.1:{port}?tls=false`; it stays the same over restarts. */
  get url(): string {
    const tls = this.#certificate === null ? 'tls=false' : `tls=true&tlsCAFile=${this.#certificate.file}`;
    return `esdb://127.0.0.1:${this.port}?${tls}`;
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
    return Object.values(this.callsByKind).reduce((sum, calls) => sum + calls, 0);
  }

  /** The number of calls so far, by kind. */
  get callsByKind(): Readonly<Record<CallKind, number>> {
    return { ...this.#calls.callsByKind };
  }

  /** The number of bytes that it has sent to clients, with everything that the protocol adds. */
  get bytesSent(): number {
    return this.#front.bytesSent;
  }

  /** The number of open subscriptions. */
  get subscriptions(): number {
    return this.#calls.subscriptions.size;
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
    this.#calls.serve(server);
    const port = await new Promise<number>((resolve, reject) => {
      server.bindAsync('127.0.0.1:0', this.#credentials(), (error, bound) =>
        error === null ? resolve(bound) : reject(error),
      );
    });
    this.#server = server;
    await this.#front.open(port);
  }

  /** Ends immediately, as by SIGKILL: connections are reset. The log is kept. */
  async kill(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    await this.#front.close();
    server?.forceShutdown();
    this.#calls.subscriptions.clear();
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
    for (const subscription of [...this.#calls.subscriptions]) subscription.drop();
  }

  /**
   * Answers nothing for a time, and then everything, as a server with a busy disk: pings are answered, connections stay
   * open, and calls wait.
   */
  async pause(milliseconds: number): Promise<void> {
    const resume = [this.#gate.close(), this.#index.progress.hold()];
    await sleep(milliseconds);
    for (const one of resume) one();
  }

  /** Restarts with a copy of a log, as from a backup. */
  async restore(copy: LogCopy): Promise<void> {
    await this.kill();
    this.log.restore(copy);
    await this.start();
  }

  /** Restarts with an empty log, as on a folder without data. */
  async reset(): Promise<void> {
    await this.restore(this.#emptyLog().copy());
  }

  #emptyLog(): EventLog {
    return new EventLog(() => this.now());
  }

  #indexOf(log: EventLog): LogIndex {
    const index = new LogIndex(log);
    if (!this.#commitsAlone) return index;
    log.listen({ written: (end) => index.commit(end), rewritten: () => index.commit(log.end) });
    index.commit(log.end);
    return index;
  }

  #credentials(): ServerCredentials {
    if (this.#certificate === null) return ServerCredentials.createInsecure();
    const { key, certificate } = this.#certificate;
    return ServerCredentials.createSsl(null, [{ private_key: key, cert_chain: certificate }]);
  }
}

function aloneInItsCluster({ endpoint, instanceId }: EventStoreDbDouble): Membership {
  return { role: 'leader', leader: endpoint, members: [{ endpoint, instanceId, role: 'leader', isAlive: true }] };
}
