import { randomUUID } from 'node:crypto';
import type { Gateway } from '#gateway/gateway.ts';
import type { CopyName, ProviderCopy } from '#responses/provider-copies.ts';
import { repeating } from '#shared/async/repeating.ts';
import type { Logger } from '#shared/logging/logger.ts';
import type { ProviderAccess } from './background-target.ts';
import { countCopy, endCopy, forgetCopy, type NotDeleted } from './provider-copy.ts';

const intervalMs = 60_000;
/** What the messages call the store. */
const store = 'The store of responses, whose copies at providers are to be deleted';
const maxCopiesAtOnce = 1_000;
const maxCallMs = 30_000;

/** The pause before the next check of a copy. Most responses are finished, read and deleted within it. */
export const checkPauseMs = 10 * 60_000;
const maxPauseMs = 24 * 60 * 60_000;
/**
 * Maximum number of failures. With the pauses between them that is about 30 days, after which a provider keeps no copy.
 */
const maxFailures = 36;

interface CopyRetentionOptions {
  readonly gateway: Pick<
    Gateway,
    'log' | 'relayDependencies' | 'responses' | 'acquireConfiguration' | 'releaseConfiguration'
  >;
  /** The time in ms since 1970. Default: the clock of the machine. */
  readonly now?: () => number;
}

/**
 * Deletes the copies of responses at providers that nothing here needs any more, and records the usage of those whose
 * end nobody reads. A failed deletion is repeated. One node at a time may do this.
 */
export class CopyRetention {
  readonly #gateway: CopyRetentionOptions['gateway'];
  readonly #now: () => number;

  constructor({ gateway, now = Date.now }: CopyRetentionOptions) {
    this.#gateway = gateway;
    this.#now = now;
  }

  /** Runs once a minute until a signal aborts. Outages of the store are logged. */
  async run(signal: AbortSignal, log: Logger): Promise<void> {
    await repeating(() => this.checkCopies(signal), { intervalMs, signal, log, store });
  }

  /** @throws UnavailableError */
  async checkCopies(signal: AbortSignal): Promise<void> {
    const gateway = this.#gateway;
    const configuration = gateway.acquireConfiguration();
    const access = { gateway, configuration, held: { answer: { takeBegun: () => true } } };
    /** Targets that do not answer, and are not called again for each of their copies. */
    const failing = new Set<string>();
    try {
      for (const copy of await gateway.responses.copies.due(this.#now(), maxCopiesAtOnce)) {
        if (signal.aborted) return;
        if (failing.has(copy.target)) await this.#postpone(copy, copy.failures);
        else if (!(await this.#check(access, copy, signal))) failing.add(copy.target);
      }
    } finally {
      gateway.releaseConfiguration(configuration);
    }
  }

  /** @returns false if its target does not answer */
  async #check(access: ProviderAccess, copy: ProviderCopy, signal: AbortSignal): Promise<boolean> {
    const unread = { ...copy, requestId: randomUUID() };
    const isNeeded = await this.#isUnfinished(copy);
    let failure: NotDeleted | null = null;
    if (!isNeeded) failure = await endCopy(access, unread, { maxMs: maxCallMs, signal });
    else if (!copy.isCounted) failure = await countCopy(access, unread, { maxMs: maxCallMs, signal });
    if (failure !== null && copy.failures >= maxFailures) await forgetCopy(access, copy);
    else if (failure !== null) await this.#postpone(copy, copy.failures + 1);
    else if (isNeeded) await this.#postpone(copy, 0);
    return failure === null || failure === 'unknown-target';
  }

  /** True if a response exists whose end was not read. */
  async #isUnfinished({ projectId, id }: CopyName): Promise<boolean> {
    const [outline] = await this.#gateway.responses.store.ofItems(projectId, [], [id]);
    return outline !== undefined && outline.background !== null;
  }

  #postpone({ projectId, id }: CopyName, failures: number): Promise<void> {
    const checkAt = this.#now() + Math.min(maxPauseMs, checkPauseMs * 2 ** failures);
    return this.#gateway.responses.copies.postpone(projectId, id, { checkAt, failures });
  }
}
