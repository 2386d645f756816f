import type { AppendReq, AppendResp, DeleteReq, ReadReq } from '@eventstore/db-client/generated/streams_pb.js';
import { withTimeoutError } from '#shared/async/timed-waits.ts';
import { callFailure, eventStoreClosedError, isUnusable, TimedOutError } from './call-failure.ts';
import { LeaderSearch } from './leader-search.ts';
import { NodeLink, type ReadCall } from './node-link.ts';
import type { ServerSettings } from './server-settings.ts';

export interface ConnectionOptions {
  readonly settings: ServerSettings;
  /** A question that only the leader answers. */
  readonly question: ReadReq;
  readonly onAnswer: () => void;
  /** Called when a call ended without an answer. */
  readonly onFailure: () => void;
}

/**
 * The silence after which the leader is searched elsewhere: the link may lead nowhere, or to a node that is not the leader
 * any more.
 */
const maxSilenceMs = 1_000;

/** How long a replaced link may still answer after the leader was found elsewhere. Then its calls end. */
const lastAnswersMs = 500;

/**
 * The way to the leader: finds it, and finds it again after a failure. Every call has a deadline. While a link is silent,
 * the leader is searched elsewhere. A replaced link keeps its calls, because a server that only paused answers them there.
 * If it stays silent while the leader answers elsewhere, they end, and their callers repeat them.
 */
export class LeaderConnection {
  readonly #options: ConnectionOptions;
  readonly #search: LeaderSearch;
  readonly #moveListeners = new Set<() => void>();
  #isClosed = false;
  #isFirst = true;
  #finding: Promise<NodeLink> | null = null;
  #link: NodeLink | null = null;
  /**
   * Replaced links, which may have open calls, with the time of their replacement on the clock of `performance.now()`.
   */
  readonly #replaced = new Map<NodeLink, number>();

  constructor(options: ConnectionOptions) {
    const { settings, question } = options;
    this.#options = options;
    const linkTo = (address: string) =>
      new NodeLink(address, settings, {
        answered: options.onAnswer,
        failed: (link, error) => this.#failed(link, error),
      });
    this.#search = new LeaderSearch({ settings, question, linkTo });
  }

  /** @throws the call's failure, or TimedOutError: either way it may have been stored */
  append(requests: ReadonlyArray<AppendReq>, deadlineMs: number): Promise<AppendResp> {
    return this.#call(deadlineMs, (link, deadline) => link.append(requests, deadline));
  }

  /** @throws the call's failure, or TimedOutError: either way it may be deleted */
  delete(request: DeleteReq, deadlineMs: number): Promise<void> {
    return this.#call(deadlineMs, (link, deadline) => link.delete(request, deadline));
  }

  /**
   * Destroy the read when it is not needed any more.
   * @param deadlineMs the time until its last answer; null for a subscription
   * @param startMs the time until the call is sent
   * @throws TimedOutError, or the failure of the search for the leader
   */
  async read(request: ReadReq, deadlineMs: number | null, startMs: number): Promise<ReadCall> {
    const deadline = deadlineMs === null ? null : new Date(Date.now() + deadlineMs);
    const link = await within(startMs, this.#openLink());
    return link.read(request, deadline);
  }

  /** If the link is silent, the leader may be found elsewhere. @throws the call's failure */
  async probe(deadlineMs: number): Promise<void> {
    const deadline = new Date(Date.now() + deadlineMs);
    if (this.#isSilent(this.#link)) this.#find().catch(() => {});
    const link = await this.#openLink();
    const failure = await link.ask(this.#options.question, deadline);
    if (failure !== null) throw failure;
    if (link === this.#link && this.#finding === null) this.#search.stop();
  }

  /**
   * Called when further calls go over a new link: to another node, or to the same one after a failure.
   * @returns a function that removes the listener
   */
  onMove(listener: () => void): () => void {
    this.#moveListeners.add(listener);
    return () => this.#moveListeners.delete(listener);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#search.close();
    await this.#finding?.catch(() => {});
    if (this.#link !== null) this.#replace(this.#link);
    for (const link of this.#replaced.keys()) link.cut();
    this.#replaced.clear();
  }

  #call<Answer>(deadlineMs: number, call: (link: NodeLink, deadline: Date) => Promise<Answer>): Promise<Answer> {
    const deadline = new Date(Date.now() + deadlineMs);
    const answer = this.#openLink().then((link) => call(link, deadline));
    // The call's own deadline does not count the search for the leader.
    return within(deadlineMs + 100, answer);
  }

  #openLink(): Promise<NodeLink> {
    if (this.#link !== null) return Promise.resolve(this.#link);
    return this.#find();
  }

  #find(): Promise<NodeLink> {
    this.#finding ??= this.#findLeader().finally(() => {
      this.#finding = null;
    });
    return this.#finding;
  }

  async #findLeader(): Promise<NodeLink> {
    if (this.#isClosed) throw eventStoreClosedError();
    const link = await this.#search.find().catch((error: unknown) => {
      this.#options.onFailure();
      throw error;
    });
    const isWanted = !this.#isClosed && (this.#link === null || this.#isSilent(this.#link));
    if (!isWanted) link.close();
    if (this.#isClosed) throw eventStoreClosedError();
    return isWanted ? this.#moveTo(link) : (this.#link ?? link);
  }

  #isSilent(link: NodeLink | null): link is NodeLink {
    return link !== null && performance.now() - link.heardAt >= maxSilenceMs;
  }

  #moveTo(link: NodeLink): NodeLink {
    if (this.#link !== null) this.#replace(this.#link);
    this.#link = link;
    for (const [replaced, replacedAt] of this.#replaced) this.#endIfSilent(replaced, replacedAt);
    if (!this.#isFirst) for (const listener of [...this.#moveListeners]) listener();
    this.#isFirst = false;
    return link;
  }

  #failed(link: NodeLink, error: unknown): void {
    if (link === this.#link && isUnusable(callFailure(error))) this.#replace(link);
    this.#options.onFailure();
  }

  #replace(link: NodeLink): void {
    this.#link = null;
    this.#replaced.set(link, performance.now());
    link.close();
  }

  #endIfSilent(link: NodeLink, replacedAt: number): void {
    setTimeout(() => {
      if (link.heardAt < replacedAt) link.cut();
      if (link.isIdle) this.#replaced.delete(link);
    }, lastAnswersMs).unref();
  }
}

/** Ends a call and ignores further answers. */
export function endCall(call: ReadCall): void {
  call.on('error', () => {});
  call.cancel();
}

/** @throws TimedOutError if the promise does not settle in time */
function within<Value>(milliseconds: number, promise: Promise<Value>): Promise<Value> {
  return withTimeoutError(milliseconds, promise, () => new TimedOutError(milliseconds));
}
