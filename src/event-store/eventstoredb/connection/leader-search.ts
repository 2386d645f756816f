import type { ReadReq } from '@eventstore/db-client/generated/streams_pb.js';
import { delay, withTimeoutError } from '#shared/async/timed-waits.ts';
import {
  callCauseOf,
  callFailure,
  eventStoreClosedError,
  isNotLeader,
  isRefusal,
  isSilence,
  leaderIn,
  TimedOutError,
} from './call-failure.ts';
import type { NodeLink } from './node-link.ts';
import type { ServerSettings } from './server-settings.ts';

const questionMs = 5_000;

/** After this many silent questions in a row a node gets a new link: the connection of the old one may be dead. */
const maxSilentQuestions = 2;

/** After this time a search is slower, because the outage may last for hours. */
const hastyMs = 10_000;
const slowPauseMs = 1_000;

interface Candidate {
  link: NodeLink;
  silentQuestions: number;
}

/** A running search, or one with a found link that nobody has taken yet. */
interface Round {
  readonly found: Promise<NodeLink>;
  /** The reasons why nodes did not answer as the leader, by address. */
  readonly failures: ReadonlyMap<string, unknown>;
  readonly over: AbortController;
}

export interface LeaderSearchOptions {
  readonly settings: ServerSettings;
  readonly linkTo: (address: string) => NodeLink;
  /** A question that only the leader answers. */
  readonly question: ReadReq;
}

/**
 * Finds the node that serves as the leader. It asks all nodes at the same time, so that a mute one delays nothing, and
 * those that others name as the leader. The leader is who answers: gossip names a leader that has fallen for a while, and
 * a new one late.
 */
export class LeaderSearch {
  readonly #options: LeaderSearchOptions;
  /** The asked nodes by address. They are kept until one of them is the leader. */
  readonly #candidates = new Map<string, Candidate>();
  readonly #closed = new AbortController();
  #round: Round | null = null;

  constructor(options: LeaderSearchOptions) {
    this.#options = options;
  }

  /**
   * Finds the leader. After the time limit the search continues for the next caller, because a slow leader may need
   * longer for its answer, and one may be elected.
   * @throws why no node has answered as the leader so far
   */
  async find(): Promise<NodeLink> {
    const { gossipTimeoutMs } = this.#options.settings;
    this.#round ??= this.#begin();
    const { found, failures } = this.#round;
    const link = await withTimeoutError(gossipTimeoutMs, found, () => failureIn(failures, gossipTimeoutMs));
    this.#round = null;
    this.#leaveAllBut(link);
    return link;
  }

  /** Ends the search when nobody needs its result. */
  stop(): void {
    this.#round?.over.abort();
    this.#round = null;
    this.#leaveAllBut(null);
  }

  close(): void {
    this.#closed.abort();
    this.stop();
  }

  /** Begins a round, which ends when one node answers, or when it is clear that none will. */
  #begin(): Round {
    const { seeds, isCluster, discoveryIntervalMs } = this.#options.settings;
    const over = new AbortController();
    const signal = AbortSignal.any([over.signal, this.#closed.signal]);
    const { promise: found, resolve, reject } = Promise.withResolvers<NodeLink>();
    const asked = new Set<string>();
    const failures = new Map<string, unknown>();
    const began = performance.now();
    const poll = async (address: string) => {
      if (asked.has(address)) return;
      asked.add(address);
      while (!signal.aborted) {
        const failure = await this.#ask(address);
        if (signal.aborted) return;
        if (failure === null) {
          resolve(this.#candidateAt(address).link);
          return over.abort();
        }
        failures.set(address, failure);
        const leader = leaderIn(failure);
        if (leader !== null) void poll(leader);
        if (isRefusal(callFailure(failure)) || (!isCluster && failures.size === asked.size)) {
          this.#round = null;
          reject(failure);
          return over.abort();
        }
        if (failures.size === asked.size && [...failures.values()].every((cause) => callCauseOf(cause).isPermanent)) {
          this.#round = null;
          reject(failure);
          over.abort();
          // An open link would try to connect several times a second.
          return this.#leaveAllBut(null);
        }
        await delay(pauseMs(performance.now() - began, discoveryIntervalMs), signal);
      }
    };
    signal.addEventListener('abort', () => reject(eventStoreClosedError()), { once: true });
    for (const seed of seeds) void poll(seed);
    found.catch(() => {});
    return { found, failures, over };
  }

  #candidateAt(address: string): Candidate {
    const known = this.#candidates.get(address);
    if (known !== undefined) return known;
    const candidate = { link: this.#options.linkTo(address), silentQuestions: 0 };
    this.#candidates.set(address, candidate);
    return candidate;
  }

  /** @returns why it did not answer; null if it did */
  async #ask(address: string): Promise<unknown> {
    try {
      return await this.#askCandidate(this.#candidateAt(address));
    } catch (error) {
      // A node may name a leader whose address cannot be used.
      return error;
    }
  }

  async #askCandidate(candidate: Candidate): Promise<unknown> {
    const { question, linkTo } = this.#options;
    const failure = await candidate.link.ask(question, new Date(Date.now() + questionMs));
    candidate.silentQuestions = failure !== null && isSilence(callFailure(failure)) ? candidate.silentQuestions + 1 : 0;
    if (candidate.silentQuestions < maxSilentQuestions) return failure;
    candidate.link.close();
    candidate.link = linkTo(candidate.link.address);
    candidate.silentQuestions = 0;
    return failure;
  }

  #leaveAllBut(leader: NodeLink | null): void {
    for (const { link } of this.#candidates.values()) {
      if (link === leader) continue;
      link.close();
      link.cut();
    }
    this.#candidates.clear();
  }
}

/** The pause between two questions to the same node. */
export function pauseMs(searchedForMs: number, discoveryIntervalMs: number): number {
  return searchedForMs < hastyMs ? discoveryIntervalMs : Math.max(discoveryIntervalMs, slowPauseMs);
}

/** What a node says, or that nothing answers there; silence only if that is all. */
function failureIn(failures: ReadonlyMap<string, unknown>, waitedMs: number): Error {
  const telling = [...failures.values()].find((error) => {
    const failure = callFailure(error);
    return !isSilence(failure) && !isNotLeader(failure);
  });
  return telling instanceof Error ? telling : new TimedOutError(waitedMs);
}
