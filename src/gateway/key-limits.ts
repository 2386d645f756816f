import { type Failure, failure } from '#domain/failure.ts';
import { RateLimit, rateLimited } from '#http/rate-limit.ts';

/** A call that may go on, or why it may not. */
export interface Admission {
  /** Headers that tell the key's limit, names and values in turn. */
  readonly fields: ReadonlyArray<string>;
  readonly refusal: Failure | null;
}

const unlimited: Admission = { fields: [], refusal: null };

/** Limits of each key on this node: requests a minute, calls at once. */
export class KeyLimits {
  readonly #rate: RateLimit | null;
  readonly #callsAtOnce: number | null;
  readonly #running = new Map<string, number>();

  constructor(limits: { readonly requestsPerMinute?: number | undefined; readonly callsAtOnce?: number | undefined }) {
    this.#rate = limits.requestsPerMinute === undefined ? null : new RateLimit(limits.requestsPerMinute);
    this.#callsAtOnce = limits.callsAtOnce ?? null;
  }

  /** Takes a call in. Whoever is let in tells `leave` when it ends; who is refused does not. */
  async enter(keyId: string): Promise<Admission> {
    if (this.#rate === null && this.#callsAtOnce === null) return unlimited;
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
