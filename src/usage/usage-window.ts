import type { Tenant } from '#domain/shared/tenancy.ts';
import type { UsageEntry } from '#domain/usage/events.ts';
import type { CallRecord } from '#gateway/call-record.ts';
import { FailedTries } from './failed-tries.ts';
import { LatencySketch } from './latency-sketch.ts';

/** Sums up calls by key, operation, model, target and outcome. Calls beyond the most sums are counted as lost. */
export class UsageWindow {
  readonly #tallies = new Map<string, Tally>();
  readonly #maxEntries: number;
  #callsLost = 0;
  #calls = 0;

  constructor(maxEntries: number) {
    this.#maxEntries = maxEntries;
  }

  /** The number of calls, including lost ones. */
  get calls(): number {
    return this.#calls;
  }

  /** The number of calls without room for their sums. */
  get callsLost(): number {
    return this.#callsLost;
  }

  add(record: CallRecord): void {
    this.#calls += 1;
    const { keyId, operation, model, target, outcome } = record;
    // A key always has the same tenant. No part contains a line feed, because names have no blanks.
    const name = `${keyId}\n${operation}\n${model}\n${target ?? ''}\n${outcome}`;
    const tally = this.#tallies.get(name) ?? this.#newTally(name, record);
    if (tally === null) this.#callsLost += 1;
    else tally.add(record);
  }

  /** Null if there is no room. */
  #newTally(name: string, record: CallRecord): Tally | null {
    if (this.#tallies.size >= this.#maxEntries) return null;
    const tally = new Tally(record);
    this.#tallies.set(name, tally);
    return tally;
  }

  entries(): ReadonlyArray<UsageEntry> {
    return Array.from(this.#tallies.values(), (tally) => tally.entry());
  }
}

class Tally {
  readonly #of: Pick<UsageEntry, keyof Tenant | 'keyId' | 'operation' | 'model' | 'target' | 'outcome'>;
  readonly #failedTries = new FailedTries();
  readonly #headers = new LatencySketch();
  readonly #firstContent = new LatencySketch();
  readonly #total = new LatencySketch();
  #calls = 0;
  #streamed = 0;
  #attempts = 0;
  #callsWithTokens = 0;
  #inputTokens = 0;
  #outputTokens = 0;
  #characters = 0;
  #audioSeconds = 0;
  #cost: number | null = null;

  constructor(record: CallRecord) {
    const { keyId, organizationId, projectId, partnerId, operation, model, target, outcome } = record;
    this.#of = { keyId, organizationId, projectId, partnerId, operation, model, target, outcome };
  }

  add(record: CallRecord): void {
    const { streamed, attempts, tokens, characters, audioSeconds, cost, headersMs, firstContentMs, totalMs } = record;
    this.#calls += 1;
    if (streamed) this.#streamed += 1;
    this.#attempts += attempts;
    for (const failed of record.failedTries) this.#failedTries.add(failed);
    if (tokens !== null) {
      this.#callsWithTokens += 1;
      this.#inputTokens += tokens.input;
      this.#outputTokens += tokens.output;
    }
    this.#characters += characters ?? 0;
    this.#audioSeconds += audioSeconds ?? 0;
    if (cost !== null) this.#cost = (this.#cost ?? 0) + cost;
    if (headersMs !== null) this.#headers.add(headersMs);
    if (firstContentMs !== null) this.#firstContent.add(firstContentMs);
    this.#total.add(totalMs);
  }

  entry(): UsageEntry {
    const totalMs = this.#total.distribution();
    if (totalMs === null) throw new Error('a tally without a call');
    return {
      ...this.#of,
      calls: this.#calls,
      streamed: this.#streamed,
      attempts: this.#attempts,
      failedTries: this.#failedTries.entries(),
      callsWithTokens: this.#callsWithTokens,
      inputTokens: this.#inputTokens,
      outputTokens: this.#outputTokens,
      characters: this.#characters,
      audioSeconds: this.#audioSeconds,
      cost: this.#cost,
      headersMs: this.#headers.distribution(),
      firstContentMs: this.#firstContent.distribution(),
      totalMs,
    };
  }
}
