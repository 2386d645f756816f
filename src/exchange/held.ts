import { currentOwner, type WorkOwner, workOwner } from '#shared/async/fair-queue.ts';
import { ByteBudget, type ByteReservation } from './byte-budget.ts';

/** Names of what is kept. Each is a row of `switchyard_kept` in `/metrics`. */
export const keptNames = ['settling append', 'usage', 'batch line', 'provider copy', 'feed'] as const;

/**
 * What continues although nobody waits for its answer: an append that settles after its 503, usage that is read after the
 * client has left, a line of a batch, the removal of a response's copy at its provider, or a feed.
 */
export type KeptName = (typeof keptNames)[number];

const kept: Record<KeptName, number> = {
  'settling append': 0,
  usage: 0,
  'batch line': 0,
  'provider copy': 0,
  feed: 0,
};

export function keptCount(name: KeptName): number {
  return kept[name];
}

/** The client has left, so nobody waits for the work any more. */
export class ClientDisconnectedError extends Error {
  override readonly name = 'ClientDisconnectedError';
}

/** Gives a thing back. Further calls do nothing. */
export type GiveBack = () => void;

/** The bytes of all requests, by direction. */
export interface BytesOfRequests {
  readonly body: ByteBudget;
  readonly answer: ByteBudget;
}

const endless = { maxBytesPerProject: Number.POSITIVE_INFINITY, maxBytes: Number.POSITIVE_INFINITY };
const withoutLimits: BytesOfRequests = { body: new ByteBudget(endless), answer: new ByteBudget(endless) };

/** A part of what a request holds. Its holder changes when it outlives the request. */
interface HeldPart {
  holder: Held;
  readonly release: () => void;
}

/**
 * What a request holds: places, slots, reservations of bytes. All of it is released once, at the end of the request. Work
 * on the request runs with it as the ambient one, so that queues of all requests know whose work waits.
 */
export class Held implements WorkOwner {
  #owner: string;
  readonly #budgets: BytesOfRequests;
  readonly #parts = new Map<GiveBack, HeldPart>();
  #isReleased = false;
  #hasLeft = false;
  /** Made when somebody listens, because most requests end before. */
  #leaving: AbortController | null = null;
  #body: ByteReservation | null = null;
  #answer: ByteReservation | null = null;

  /**
   * @param owner a project; `serviceOwner` until the caller is known
   * @param budgets of the bytes that it takes. Default: without limits
   */
  constructor(owner: string, budgets: BytesOfRequests = withoutLimits) {
    this.#owner = owner;
    this.#budgets = budgets;
  }

  get owner(): string {
    return this.#owner;
  }

  /** Sets the owner when the caller is known. */
  belongTo(projectId: string): void {
    this.#owner = projectId;
  }

  /**
   * Holds one thing. After the end it is released immediately, because nothing else would do it.
   * @param release gives it back
   * @returns gives it back earlier
   */
  add(release: () => void): GiveBack {
    const part: HeldPart = { holder: this, release };
    const giveBack = () => {
      if (part.holder.#parts.delete(giveBack)) release();
    };
    this.#parts.set(giveBack, part);
    if (this.#isReleased) giveBack();
    return giveBack;
  }

  /** The bytes of its body that are in memory. Made for the owner of the first use. */
  get body(): ByteReservation {
    this.#body ??= this.#reserve(this.#budgets.body);
    return this.#body;
  }

  /** The bytes of an answer that is held until it is whole. Made for the owner of the first use. */
  get answer(): ByteReservation {
    this.#answer ??= this.#reserve(this.#budgets.answer);
    return this.#answer;
  }

  #reserve(budget: ByteBudget): ByteReservation {
    const reservation = budget.hold(this.#owner);
    this.add(() => reservation.release());
    return reservation;
  }

  /**
   * Takes parts out, which outlive the request until the returned `Held` is released. It counts under its name until then.
   * Its client cannot leave any more.
   * @param parts what `add` has returned
   */
  keep(name: KeptName, ...parts: ReadonlyArray<GiveBack>): Held {
    const child = new Held(this.#owner, this.#budgets);
    kept[name] += 1;
    child.add(() => {
      kept[name] -= 1;
    });
    for (const giveBack of parts) this.#pass(giveBack, child);
    return child;
  }

  #pass(giveBack: GiveBack, child: Held): void {
    const part = this.#parts.get(giveBack);
    if (part === undefined) return;
    this.#parts.delete(giveBack);
    part.holder = child;
    child.#parts.set(giveBack, part);
  }

  /**
   * Releases everything that is still held, the newest first: also if one of them throws. Further calls do nothing.
   * @throws the first of their errors
   */
  release(): void {
    this.#isReleased = true;
    const errors: unknown[] = [];
    for (const giveBack of [...this.#parts.keys()].reverse()) {
      try {
        if (this.#parts.has(giveBack)) giveBack();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
  }

  /**
   * True if the client has left. False after the end of the request: work that continues then does not end because of
   * it.
   */
  get hasLeft(): boolean {
    return this.#hasLeft && !this.#isReleased;
  }

  /** Aborts when the client leaves before its answer is complete. */
  get left(): AbortSignal {
    this.#leaving ??= new AbortController();
    if (this.#hasLeft) this.#leaving.abort();
    return this.#leaving.signal;
  }

  /** Notes that the client has left. What it holds is released at the end of the request all the same. */
  leave(): void {
    this.#hasLeft = true;
    this.#leaving?.abort();
  }

  /** Runs work for this holder: everything that the work waits for belongs to it. */
  run<Result>(work: () => Result): Result {
    return workOwner.run(this, work);
  }
}

/**
 * What the request holds whose work runs now. Outside of a request, an empty one of the current owner: whoever adds to it
 * gives the part back.
 */
export function currentHeld(): Held {
  const current = workOwner.getStore();
  return current instanceof Held ? current : new Held(currentOwner());
}
