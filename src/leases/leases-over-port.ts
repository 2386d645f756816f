import type { MessagePort } from 'node:worker_threads';
import { withTimeoutError } from '#shared/async/timed-waits.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import type { TermId } from './lease-store.ts';
import { crowdedIntervalMs, type Expiry, type Leases, type ObservedTerm, type Renewal } from './leases.ts';
import { RoundTimes } from './round-times.ts';

const messagesMs = 200;
/** Calls of one lease at the same time: a release waits for a renewal, which may look afterwards. */
const callsOfOne = 3;

type LeaseCall =
  | { readonly kind: 'look' }
  | ({ readonly kind: 'begin'; readonly holder: string } & TermId)
  | ({ readonly kind: 'renew' } & Renewal)
  | ({ readonly kind: 'release' } & TermId);

type LeaseRequest = LeaseCall & { readonly id: number };

interface LeaseAnswer {
  readonly id: number;
  readonly callLimitMs: number;
  readonly terms?: ReadonlyMap<string, ObservedTerm>;
  readonly expiry?: Expiry | null;
  readonly failure?: { readonly message: string; readonly isUnavailable: boolean; readonly isLogged: boolean };
}

/** Serves the leases of this node to a thread that has the other end of a port, until the port closes. */
export function serveLeases(leases: Leases, port: MessagePort): void {
  port.on('message', async (request: LeaseRequest) => {
    const answer = await answerTo(request, leases).catch((error: unknown) => ({ failure: failureOf(error) }));
    // A closed port drops it.
    port.postMessage({ ...answer, id: request.id, callLimitMs: leases.callLimitMs } satisfies LeaseAnswer);
  });
  port.unref();
}

async function answerTo(call: LeaseCall, leases: Leases): Promise<Pick<LeaseAnswer, 'terms' | 'expiry'>> {
  switch (call.kind) {
    case 'look':
      return { terms: await leases.look() };
    case 'begin':
      return { expiry: await leases.begin(call.name, call.token, call.holder) };
    case 'renew':
      return { expiry: await leases.renew(call) };
    case 'release':
      await leases.release(call.name, call.token);
      return {};
  }
}

function failureOf(error: unknown): NonNullable<LeaseAnswer['failure']> {
  const message = error instanceof Error ? error.message : String(error);
  const isUnavailable = error instanceof UnavailableError;
  return { message, isUnavailable, isLogged: isUnavailable && error.isLogged };
}

/**
 * The leases of the node, in another thread than the one that asks the store. A thread measures its own terms by its
 * own clock, so a main thread that is frozen renews nothing and its threads lose their terms in time; and nothing is
 * renewed for a frozen thread, because it asks for nothing.
 */
export class LeasesOverPort implements Leases {
  readonly #port: MessagePort;
  readonly #waiting = new Map<number, PromiseWithResolvers<LeaseAnswer>>();
  #lastId = 0;
  #callLimitMs = new RoundTimes().callLimitMs;

  /** @param port whose other end `serveLeases` serves; it must be closed */
  constructor(port: MessagePort) {
    this.#port = port;
    port.on('message', (answer: LeaseAnswer) => {
      this.#callLimitMs = answer.callLimitMs;
      this.#waiting.get(answer.id)?.resolve(answer);
    });
  }

  get callLimitMs(): number {
    return this.#callLimitMs;
  }

  async look(): Promise<ReadonlyMap<string, ObservedTerm>> {
    const { terms = new Map() } = await this.#call({ kind: 'look' });
    return terms;
  }

  async begin(name: string, token: number, holder: string): Promise<Expiry | null> {
    return (await this.#call({ kind: 'begin', name, token, holder })).expiry ?? null;
  }

  async renew(renewal: Renewal): Promise<Expiry | null> {
    return (await this.#call({ kind: 'renew', ...renewal })).expiry ?? null;
  }

  async release(name: string, token: number): Promise<void> {
    await this.#call({ kind: 'release', name, token });
  }

  /** Ends the calls that wait, too: their time limits would keep the thread from ending. */
  close(): void {
    this.#port.close();
    for (const { reject } of this.#waiting.values()) reject(new UnavailableError('The leases are closed.'));
  }

  get #limitMs(): number {
    return crowdedIntervalMs + callsOfOne * this.#callLimitMs + messagesMs;
  }

  /** @throws UnavailableError if the other thread does not answer in time; what its call throws, by its message */
  async #call(call: LeaseCall): Promise<LeaseAnswer> {
    this.#lastId += 1;
    const id = this.#lastId;
    const answered = Promise.withResolvers<LeaseAnswer>();
    this.#waiting.set(id, answered);
    this.#port.postMessage({ ...call, id } satisfies LeaseRequest);
    try {
      const answer = await withTimeoutError(this.#limitMs, answered.promise, noAnswer);
      if (answer.failure === undefined) return answer;
      const { message, isUnavailable, isLogged } = answer.failure;
      throw isUnavailable ? new UnavailableError(message, undefined, isLogged) : new Error(message);
    } finally {
      this.#waiting.delete(id);
    }
  }
}

function noAnswer(): UnavailableError {
  return new UnavailableError('The thread that asks the store of leases does not answer in time.');
}
