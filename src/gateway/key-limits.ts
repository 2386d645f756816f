import { type Failure, failure } from '#domain/failure.ts';
import { RateLimit, rateLimited } from '#http/rate-limit.ts';

/** A call that may go on, or why it may not. */
export interface Admission {
  /** Headers that tell the key's limit, names and values in turn. */
  readonly fields: ReadonlyArray<string>;
  readonly refusal: Failure | null;
}

const unlimited: Admission = { fields: [], refusal: null };

/** The limits of a key; undefined for none. */
export interface LimitsOfKey {
  readonly requestsPerMinute?: number | undefined;
  readonly callsAtOnce?: number | undefined;
}

/** Limits of each key on this node: requests a minute, calls at once. They may change while calls run. */
export class KeyLimits {
  readonly #running = new Map<string, number>();
  #rate: RateLimit | null = null;
  #callsAtOnce: number | null = null;

  constructor(limits: LimitsOfKey) {
    this.configure(limits);
  }

  /** Other limits from now on, under which what is counted goes on: a key's minute and its running calls. */
  configure({ requestsPerMinute, callsAtOnce }: LimitsOfKey): void {
    this.#callsAtOnce = callsAtOnce ?? null;
    if (requestsPerMinute === undefined) this.#rate = null;
    else if (this.#rate === null) this.#rate = new RateLimit(requestsPerMinute);
    else this.#rate.requestsPerMinute = requestsPerMinute;
  }

  /** Takes a call in. Whoever is let in tells `leave` when it ends; who is refused does not. */
  async enter(keyId: string): Promise<Admission> {
    // Counted without a limit, too: one may come while the call runs.
    const running = this.#running.get(keyId) ?? 0;
    if (this.#callsAtOnce !== null && running >= this.#callsAtOnce)
      return { fields: [], refusal: tooManyCalls(this.#callsAtOnce) };
    this.#running.set(keyId, running + 1);
    if (this.#rate === null) return unlimited;
    const { allowed, fields, retryAfterSeconds } = await this.#rate.take(keyId);
    if (allowed) return { fields, refusal: null };
    this.leave(keyId);
    return { fields, refusal: rateLimited(retryAfterSeconds) };
  }

  leave(keyId: string): void {
    const running = this.#running.get(keyId);
    if (running === undefined) return;
    if (running > 1) this.#running.set(keyId, running - 1);
    else this.#running.delete(keyId);
  }
}

function tooManyCalls(atOnce: number): Failure {
  const detail = `This key has ${atOnce} calls running, as many as it may have at once. Try again when one has ended.`;
  return failure('too-many-calls', detail, { retryAfterSeconds: 1 });
}
