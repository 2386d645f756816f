import { randomUUID } from 'node:crypto';
import type { RecordedCall } from '#domain/usage/recorded-call.ts';
import type { CallRecord } from '#gateway/relay/call-record.ts';
import { Debouncer } from '#shared/async/debouncer.ts';
import { isOutage } from '#shared/errors/unavailable-error.ts';
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
interface WaitingCall extends CallOutline {
  readonly record: CallRecord;
  callsRepresented: number;
}

/** A waiting call with its stored form. */
interface FormedCall {
  readonly call: WaitingCall;
  readonly logged: LoggedCall;
}

/** How many calls are not stored because of their records, and the names of the errors. */
interface RefusedCalls {
  calls: number;
  readonly errors: Set<string>;
}

/** The waiting calls of a project. */
interface ProjectCalls {
  calls: WaitingCall[];
  bytes: number;
  /** The newest served call of each key and model. */
  readonly newestServed: Map<string, WaitingCall>;
}

/**
 * Collects the records of calls and stores them once a second. A crash loses a second of them. Bytes are estimated,
 * because a record gets its stored form when it is stored.
 */
export class CallRecorder {
  readonly #options: CallRecorderOptions;
  readonly #now: () => number;
  readonly #outage: OutageLog;
  readonly #storing = new Debouncer(intervalMs, () => this.#store());
  #waiting = new Map<string, ProjectCalls>();
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

  /** How many calls have no record, because too many were waiting or the store does not take it. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Adds calls that have just ended. Never throws. */
  add(records: ReadonlyArray<CallRecord>): void {
    this.#since ??= this.#now();
    const maxBytes = this.#maxBytesOfProject();
    for (const record of records) {
      const ofProject = this.#callsOf(record.projectId ?? '');
      const similar =
        ofProject.bytes < maxBytes || record.outcome !== 'served' ? undefined : similarIn(ofProject, record);
      // In a busy second this costs almost nothing for each further call.
      if (similar !== undefined) similar.callsRepresented += 1;
      else this.#keep(ofProject, this.#waitingCallOf(record));
    }
    this.#storing.schedule();
  }

  /** Stores what waits, with one try. */
  async close(): Promise<void> {
    this.#storing.stop();
    await this.#storing.flush();
  }

  /** The most bytes that a project may store now. */
  #maxBytesOfProject(): number {
    const seconds = this.#since === null ? 0 : (this.#now() - this.#since) / 1_000;
    return maxBytesPerSecond * Math.max(1, seconds);
  }

  #waitingCallOf(record: CallRecord): WaitingCall {
    const { keyId, model, outcome, requestId, attempts, endedAt, totalMs } = record;
    this.#added += 1;
    return {
      record,
      id: `${this.#idPrefix}-${this.#added.toString(36)}`,
      at: Math.floor(endedAt - totalMs),
      isServed: outcome === 'served',
      keyId,
      model,
      bytes: 400 + requestId.length + model.length + 150 * attempts.length,
      callsRepresented: 1,
    };
  }

  #callsOf(projectId: string): ProjectCalls {
    const known = this.#waiting.get(projectId);
    if (known !== undefined) return known;
    const ofProject: ProjectCalls = { calls: [], bytes: 0, newestServed: new Map() };
    this.#waiting.set(projectId, ofProject);
    return ofProject;
  }

  #keep(ofProject: ProjectCalls, call: WaitingCall): void {
    ofProject.calls.push(call);
    ofProject.bytes += call.bytes;
    if (call.isServed) ofProject.newestServed.set(groupOf(call), call);
    this.#waitingBytes += call.bytes;
    if (this.#waitingBytes > maxWaitingBytes) this.#makeRoom();
  }

  /** Halves the calls of the project that has the most. */
  #makeRoom(): void {
    const [largest] = [...this.#waiting.values()].sort((one, other) => other.bytes - one.bytes);
    if (largest !== undefined) this.#thin(largest, largest.bytes / 2);
  }

  #thin(ofProject: ProjectCalls, maxBytes: number): void {
    const { removed, changed, lost } = planThinning(ofProject.calls, maxBytes);
    const gone = new Set<CallOutline>(removed);
    const bytes = removed.reduce((sum, call) => sum + call.bytes, 0);
    ofProject.calls = ofProject.calls.filter((call) => !gone.has(call));
    for (const call of ofProject.calls) call.callsRepresented = changed.get(call) ?? call.callsRepresented;
    for (const [group, call] of ofProject.newestServed) if (gone.has(call)) ofProject.newestServed.delete(group);
    ofProject.bytes -= bytes;
    this.#waitingBytes -= bytes;
    this.#dropped += lost;
  }

  async #store(): Promise<void> {
    const maxBytes = this.#maxBytesOfProject();
    for (const ofProject of this.#waiting.values()) if (ofProject.bytes > maxBytes) this.#thin(ofProject, maxBytes);
    const calls = [...this.#waiting.values()].flatMap((ofProject) => ofProject.calls);
    this.#waiting = new Map();
    this.#waitingBytes = 0;
    const since = this.#since;
    this.#since = null;
    const unstored = await this.#storeAll(calls);
    if (unstored.length === 0) return;
    this.#since = since;
    for (const call of unstored) this.#keep(this.#callsOf(call.record.projectId ?? ''), call);
    this.#storing.schedule();
  }

  /**
   * Stores calls together. When the store does not take some, it stores each half of them, down to the call that is not
   * taken, which is dropped.
   * @returns the calls that are left when the store cannot be used
   */
  async #storeAll(calls: ReadonlyArray<WaitingCall>): Promise<ReadonlyArray<WaitingCall>> {
    const refused = { calls: 0, errors: new Set<string>() };
    const parts = partsOf(formedCallsOf(calls, refused), maxCallsTogether).reverse();
    for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
      try {
        await this.#options.calls.add(part.map(({ logged }) => logged));
        this.#outage.succeeded();
      } catch (error) {
        if (isOutage(error)) {
          this.#outage.failed(error);
          parts.push(part);
          break;
        }
        const [first] = part;
        if (part.length > 1) parts.push(...partsOf(part, Math.ceil(part.length / 2)).reverse());
        else if (first !== undefined) refuse(first.call, error, refused);
      }
    }
    this.#drop(refused);
    return parts.reverse().flatMap((part) => part.map(({ call }) => call));
  }

  #drop({ calls, errors }: RefusedCalls): void {
    if (calls === 0) return;
    this.#dropped += calls;
    // The text of an error may quote the record.
    this.#options.log.error(
      { calls, errors: [...errors].slice(0, maxErrorNames) },
      'records of calls cannot be stored and are dropped',
    );
  }
}

/** Maximum number of names of errors in a line. */
const maxErrorNames = 5;

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}

function refuse({ callsRepresented }: WaitingCall, error: unknown, refused: RefusedCalls): void {
  refused.calls += callsRepresented;
  refused.errors.add(nameOf(error));
}

/** Makes the stored forms of calls. One without is refused alone. */
function formedCallsOf(calls: ReadonlyArray<WaitingCall>, refused: RefusedCalls): ReadonlyArray<FormedCall> {
  const formed: FormedCall[] = [];
  for (const call of calls) {
    try {
      formed.push({ call, logged: loggedCallOf(call) });
    } catch (error) {
      refuse(call, error, refused);
    }
  }
  return formed;
}

function partsOf(calls: ReadonlyArray<FormedCall>, size: number): ReadonlyArray<FormedCall>[] {
  const parts: ReadonlyArray<FormedCall>[] = [];
  for (let from = 0; from < calls.length; from += size) parts.push(calls.slice(from, from + size));
  return parts;
}

/** A waiting call that may represent another one too. */
function similarIn({ newestServed }: ProjectCalls, record: CallRecord): WaitingCall | undefined {
  return newestServed.get(groupOf(record));
}

function groupOf({ keyId, model }: Pick<CallRecord, 'keyId' | 'model'>): string {
  return `${keyId}\n${model}`;
}

function loggedCallOf({ id, record, callsRepresented }: WaitingCall): LoggedCall {
  return { id, projectId: record.projectId ?? '', call: recordedCallOf(record, callsRepresented) };
}

function recordedCallOf(record: CallRecord, callsRepresented: number): RecordedCall {
  const { requestId, keyId, operation, model, streamed, outcome, reason, firstContentMs, totalMs, tokens } = record;
  const { characters, audioSeconds, batchId, endedAt } = record;
  const numbers = new Map<string, number>();
  return {
    requestId,
    time: new Date(endedAt - totalMs).toISOString(),
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
    callsRepresented,
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
