import type { Tenant } from '#domain/shared/tenancy.ts';
import type { UsageEntry } from '#domain/usage/events.ts';
import { noLatencies } from '#domain/usage/latency-bins.ts';
import type { BrokenAttempt, CallRecord } from '#gateway/call-record.ts';
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
    const { brokenAttempts, ...call } = record;
    let hasRoom = this.#addTo(call, (tally) => tally.add(record));
    for (const attempt of brokenAttempts) {
      const hasOwnRoom = this.#addTo({ ...call, target: attempt.target }, (tally) => tally.addBroken(attempt));
      hasRoom &&= hasOwnRoom;
    }
    if (!hasRoom) this.#callsLost += 1;
  }

  /** @returns false if there is no room for the sums */
  #addTo(labels: Labels, add: (tally: Tally) => void): boolean {
    const { keyId, operation, model, target, outcome } = labels;
    // A key always has the same tenant. No part contains a line feed, because names have no blanks.
    const name = `${keyId}\n${operation}\n${model}\n${target ?? ''}\n${outcome}`;
    const tally = this.#tallies.get(name) ?? this.#newTally(name, labels);
    if (tally !== null) add(tally);
    return tally !== null;
  }

  /** Null if there is no room. */
  #newTally(name: string, labels: Labels): Tally | null {
    if (this.#tallies.size >= this.#maxEntries) return null;
    const tally = new Tally(labels);
    this.#tallies.set(name, tally);
    return tally;
  }

  entries(): ReadonlyArray<UsageEntry> {
    return Array.from(this.#tallies.values(), (tally) => tally.entry());
  }
}

/** The members in which sums differ. */
type Labels = Pick<UsageEntry, keyof Tenant | 'keyId' | 'operation' | 'model' | 'target' | 'outcome'>;

class Tally {
  readonly #of: Labels;
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

  constructor(labels: Labels) {
    const { keyId, organizationId, projectId, partnerId, operation, model, target, outcome } = labels;
    this.#of = { keyId, organizationId, projectId, partnerId, operation, model, target, outcome };
  }

  add(record: CallRecord): void {
    const { streamed, attempts, tokens, characters, headersMs, firstContentMs, totalMs } = record;
    this.#calls += 1;
    if (streamed) this.#streamed += 1;
    this.#attempts += attempts;
    for (const failed of record.failedTries) this.#failedTries.add(failed);
    if (tokens !== null) this.#callsWithTokens += 1;
    this.#characters += characters ?? 0;
    this.#addConsumption(record);
    if (headersMs !== null) this.#headers.add(headersMs);
    if (firstContentMs !== null) this.#firstContent.add(firstContentMs);
    this.#total.add(totalMs);
  }

  /** Adds what an attempt had consumed when it broke. Its call counts for the target that ended it. */
  addBroken(attempt: BrokenAttempt): void {
    this.#addConsumption(attempt);
  }

  #addConsumption({ tokens, audioSeconds, cost }: Pick<BrokenAttempt, 'tokens' | 'audioSeconds' | 'cost'>): void {
    this.#inputTokens += tokens?.input ?? 0;
    this.#outputTokens += tokens?.output ?? 0;
    this.#audioSeconds += audioSeconds ?? 0;
    if (cost !== null) this.#cost = (this.#cost ?? 0) + cost;
  }

  entry(): UsageEntry {
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
      totalMs: this.#total.distribution() ?? noLatencies,
    };
  }
}
