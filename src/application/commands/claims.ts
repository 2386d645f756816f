import { hash } from 'node:crypto';
import * as E from 'fp-ts/lib/Either.js';
import type { Origin } from '#application/streams/stream-state.ts';
import type { StreamWriter } from '#application/streams/stream-writer.ts';
import type { Tenant } from '#domain/shared/access.ts';
import type { Entity, EventOf } from '#domain/shared/entity.ts';
import type { Failure } from '#domain/shared/failure.ts';
import { delay } from '#shared/async/timed-waits.ts';
import { clock } from '#shared/clock.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { countedCache } from '#shared/memory/counted-cache.ts';

/** A claim is valid this long before its holder exists, because its creator may be between its two appends. */
export const claimGraceMs = 2_000;
const pollIntervalMs = 50;
const maxSeen = 10_000;

/** Makes the holders of one entity unique by a value. */
export interface Claim<State, Events, HolderState, HolderEvents> {
  /** The entity of the claims. Its stream is named by the hashed value. */
  readonly entity: Entity<State, Events>;
  readonly holder: Entity<HolderState, HolderEvents>;
  /** The holder of the claim; null without one. `since` is the time of the claim. */
  readonly holderIn: (state: State) => { readonly id: string; readonly since: string } | null;
  readonly claimed: (holderId: string) => EventOf<Events>;
  /** The event that closes a holder that was never created. */
  readonly abandoned: (holderId: string) => EventOf<HolderEvents>;
  readonly taken: Failure;
  /** The message for a client when another request has the claim, and its holder does not exist yet. */
  readonly beingTaken: string;
}

// biome-ignore lint/suspicious/noExplicitAny: a claim stays typed where it is made.
export type AnyClaim = Claim<any, any, any, any>;

export interface Claimant {
  /** The id of the resource that will hold the claim. */
  readonly id: string;
  readonly tenant: Tenant;
  readonly origin: Origin;
}

/**
 * Keeps values unique with claim streams. A claim is appended before the first event of its holder. After a crash between
 * the two, the value is not locked: the next creator sees that the holder does not exist.
 */
export class Claims {
  readonly #writer: StreamWriter;
  readonly #graceMs: number;
  /** When this node first saw that a holder did not exist, on this process's clock. */
  readonly #firstSeen = countedCache<number>(maxSeen);

  /** @param graceMs how long a claim is valid before its holder exists */
  constructor(writer: StreamWriter, graceMs = claimGraceMs) {
    this.#writer = writer;
    this.#graceMs = graceMs;
  }

  /**
   * Takes the claims in the order of the values. Those that the claimant holds already are taken.
   * @returns why one cannot be taken; null if all are
   * @throws UnavailableError
   */
  async take(claim: AnyClaim, values: ReadonlyArray<string>, claimant: Claimant): Promise<Failure | null> {
    for (const value of values) {
      const taken = await this.#take(claim, hash('sha256', value), claimant);
      if (E.isLeft(taken)) return taken.left;
    }
    return null;
  }

  #take(claim: AnyClaim, claimId: string, { id, tenant, origin }: Claimant): Promise<E.Either<Failure, unknown>> {
    return this.#writer.write({
      entity: claim.entity,
      id: claimId,
      origin,
      decide: async ({ state }, deadline) => {
        const holder = claim.holderIn(state);
        if (holder?.id === id) return E.right({ events: [], tenant });
        if (holder !== null) {
          const graceEnds = this.#graceEnd(claimId, holder.id, holder.since);
          if (!(await this.#isFree(claim, holder.id, { graceEnds, deadline }, origin, tenant)))
            return E.left(claim.taken);
        }
        return E.right({ events: [claim.claimed(id)], tenant });
      },
    });
  }

  /**
   * Takes no claim. Null if the claimant can take the claims now. It does not wait for a holder that does not exist
   * yet; only `take` does.
   * @throws UnavailableError
   */
  async check(claim: AnyClaim, values: ReadonlyArray<string>, id: string): Promise<Failure | null> {
    for (const value of values) {
      if (await this.#isHeldByOther(claim, hash('sha256', value), id)) return claim.taken;
    }
    return null;
  }

  async #isHeldByOther(claim: AnyClaim, claimId: string, id: string): Promise<boolean> {
    const holder = claim.holderIn((await this.#writer.load(claim.entity, claimId)).state);
    if (holder === null || holder.id === id) return false;
    const { state, revision } = await this.#writer.load(claim.holder, holder.id);
    return revision >= 0 && claim.holder.isLive(state, holder.id);
  }

  /**
   * The end of the grace period on this process's clock. The clock of the claiming node may be ahead, so the wait ends
   * at the latest one grace period after this node first saw the claim.
   */
  #graceEnd(claimId: string, holderId: string, since: string): number {
    const now = clock.now();
    const claim = `${claimId} ${holderId} ${since}`;
    const firstSeen = this.#firstSeen.get(claim) ?? now;
    this.#firstSeen.set(claim, firstSeen);
    const leftByClock = Date.parse(since) + this.#graceMs - clock.time();
    return Math.min(firstSeen + this.#graceMs, now + leftByClock);
  }

  /** True if the claim is free. A holder that was never created is closed first, so that it cannot be created late. */
  async #isFree(
    { holder, abandoned, beingTaken }: AnyClaim,
    holderId: string,
    { graceEnds, deadline }: { readonly graceEnds: number; readonly deadline: number },
    origin: Origin,
    tenant: Tenant,
  ): Promise<boolean> {
    for (;;) {
      const { state, revision } = await this.#writer.load(holder, holderId);
      if (revision >= 0) return !holder.isLive(state, holderId);
      const now = clock.now();
      if (now >= graceEnds) break;
      if (now >= deadline) throw new UnavailableError(beingTaken);
      await delay(Math.min(pollIntervalMs, Math.max(0, Math.min(graceEnds, deadline) - now)));
    }
    const closed = await this.#writer.write({
      entity: holder,
      id: holderId,
      origin,
      // The holder's creation may have the turn of its stream and wait for this claim's turn: see `WriteMode`.
      mode: 'bypass',
      decide: ({ state }) => E.right({ events: state === holder.initial ? [abandoned(holderId)] : [], tenant }),
    });
    return E.isRight(closed) && !holder.isLive(closed.right.stream.state, holderId);
  }
}
