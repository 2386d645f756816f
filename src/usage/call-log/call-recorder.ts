import { randomUUID } from 'node:crypto';
import type { RecordedCall } from '#domain/usage/recorded-call.ts';
import type { CallRecord } from '#gateway/relay/call-record.ts';
import { Debouncer } from '#shared/async/debouncer.ts';
import type { Logger } from '#shared/logging/logger.ts';
import { OutageLog } from '#shared/logging/outage-log.ts';
import type { CallLog, LoggedCall } from './call-log.ts';
import { type CallOutline, planThinning } from './thinning.ts';

const intervalMs = 1_000;
/** The most bytes that wait for the store. */
const maxWaitingBytes = 4 * 1024 * 1024;
/** The most bytes that a project stores for each second: about 250 calls. More are thinned before they are stored. */
const maxBytesPerSecond = 96 * 1024;
/** The most calls that are stored together, so that neither the event loop nor other writes wait long. */
const maxCallsTogether = 500;

export interface CallRecorderOptions {
  readonly calls: Pick<CallLog, 'add'>;
  readonly log: Logger;
  /** In ms since 1970. */
  readonly now?: () => number;
}

/** A call that waits for the store. */
interface WaitingCall extends LoggedCall, CallOutline {}

/**
 * Collects the records of calls and stores them once a second. A crash loses a second of them. Bytes are estimated,
 * because a call is serialized only when it is stored.
 */
export class CallRecorder {
  readonly #options: CallRecorderOptions;
  readonly #now: () => number;
  readonly #outage: OutageLog;
  readonly #storing = new Debouncer(intervalMs, () => this.#store());
  /** By project. */
  #waiting = new Map<string, WaitingCall[]>();
  #waitingBytes = 0;
  /** When the oldest waiting call was added; null without one. */
  #since: number | null = null;
  readonly #idPrefix = randomUUID().slice(0, 13);
  #added = 0;
  #dropped = 0;

  constructor(options: CallRecorderOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#outage = new OutageLog(options.log, 'The store of the records of calls');
  }

  /** How many calls have no record, because too many were waiting. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Adds calls that have just ended. Never throws. */
  add(records: ReadonlyArray<CallRecord>): void {
    this.#since ??= this.#now();
    for (const record of records) this.#keep(this.#waitingCallOf(record));
    this.#storing.schedule();
  }

  /** Stores what waits, with one try. */
  async close(): Promise<void> {
    this.#storing.stop();
    await this.#storing.flush();
  }

  #waitingCallOf(record: CallRecord): WaitingCall {
    const call = recordedCallOf(record);
    this.#added += 1;
    const { keyId, model, outcome, requestId, attempts, callsRepresented } = call;
    return {
      id: `${this.#idPrefix}-${this.#added.toString(36)}`,
      projectId: record.projectId ?? '',
      call,
      at: Date.parse(call.time),
      isServed: outcome === 'served',
      keyId,
      model,
      bytes: 400 + requestId.length + model.length + 150 * attempts.length,
      callsRepresented,
    };
  }

  #keep(call: WaitingCall): void {
    const { projectId, bytes } = call;
    const ofProject = this.#waiting.get(projectId);
    if (ofProject === undefined) this.#waiting.set(projectId, [call]);
    else ofProject.push(call);
    this.#waitingBytes += bytes;
    if (this.#waitingBytes > maxWaitingBytes) this.#makeRoom();
  }

  /** Thins the calls of the project that has the most, to half of their bytes. */
  #makeRoom(): void {
    const all = Array.from(this.#waiting, ([projectId, calls]) => ({ projectId, calls, bytes: bytesOf(calls) }));
    const [largest] = all.sort((one, other) => other.bytes - one.bytes);
    if (largest === undefined) return;
    const { kept, lost } = thinned(largest.calls, largest.bytes / 2);
    this.#dropped += lost;
    this.#waitingBytes += bytesOf(kept) - largest.bytes;
    this.#waiting.set(largest.projectId, kept);
  }

  async #store(): Promise<void> {
    const waiting = [...this.#waiting.values()];
    const seconds = Math.max(1, (this.#now() - (this.#since ?? 0)) / 1_000);
    this.#waiting = new Map();
    this.#waitingBytes = 0;
    this.#since = null;
    const results = waiting.map((calls) => thinned(calls, maxBytesPerSecond * seconds));
    this.#dropped += results.reduce((sum, { lost }) => sum + lost, 0);
    const kept = results.flatMap((result) => result.kept);
    for (let from = 0; from < kept.length; from += maxCallsTogether) {
      try {
        await this.#options.calls.add(kept.slice(from, from + maxCallsTogether));
        this.#outage.succeeded();
      } catch (error) {
        this.#outage.failed(error);
        this.#keepForLater(kept.slice(from));
        return;
      }
    }
  }

  #keepForLater(calls: ReadonlyArray<WaitingCall>): void {
    this.#since ??= this.#now();
    for (const call of calls) this.#keep(call);
    this.#storing.schedule();
  }
}

function bytesOf(calls: ReadonlyArray<WaitingCall>): number {
  return calls.reduce((sum, { bytes }) => sum + bytes, 0);
}

/** @returns the calls that are left, and how many calls none of them represents */
function thinned(calls: WaitingCall[], maxBytes: number): { readonly kept: WaitingCall[]; readonly lost: number } {
  if (bytesOf(calls) <= maxBytes) return { kept: calls, lost: 0 };
  const { removed, changed, lost } = planThinning(calls, maxBytes);
  const gone = new Set<CallOutline>(removed);
  const kept = calls.filter((call) => !gone.has(call));
  return {
    kept: kept.map((call) => {
      const callsRepresented = changed.get(call);
      return callsRepresented === undefined
        ? call
        : { ...call, callsRepresented, call: { ...call.call, callsRepresented } };
    }),
    lost,
  };
}

function recordedCallOf(record: CallRecord): RecordedCall {
  const { requestId, keyId, operation, model, streamed, outcome, reason, firstContentMs, totalMs, tokens } = record;
  const { characters, audioSeconds, batchId } = record;
  const numbers = new Map<string, number>();
  return {
    requestId,
    time: new Date(record.endedAt - totalMs).toISOString(),
    keyId,
    operation,
    model,
    streamed,
    outcome,
    reason,
    attempts: record.attempts.map(({ target, result, status, reason: why, startMs, durationMs }) => {
      const targetNumber = numbers.get(target) ?? numbers.size + 1;
      numbers.set(target, targetNumber);
      const times = { startMs: tenths(startMs), durationMs: tenths(durationMs) };
      return { targetNumber, target, result, status, reason: why, ...times };
    }),
    firstContentMs: firstContentMs === null ? null : tenths(firstContentMs),
    totalMs: tenths(totalMs),
    inputTokens: tokens?.input ?? null,
    outputTokens: tokens?.output ?? null,
    characters,
    audioSeconds,
    batchId,
    callsRepresented: 1,
    cost: costOf(record),
  };
}

/** The cost of all attempts; null if that of none is known. */
function costOf({ cost, brokenAttempts }: CallRecord): number | null {
  const known = [cost, ...brokenAttempts.map((attempt) => attempt.cost)].filter((each) => each !== null);
  return known.length === 0 ? null : known.reduce((sum, each) => sum + each, 0);
}

function tenths(milliseconds: number): number {
  return Math.round(milliseconds * 10) / 10;
}
