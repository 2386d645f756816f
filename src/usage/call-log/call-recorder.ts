import type { Admission } from '#exchange/admission.ts';
import type { CallRecord } from '#gateway/relay/call-record.ts';
import { Debouncer } from '#shared/async/debouncer.ts';
import type { FairPlaces } from '#shared/async/fair-queue.ts';
import { chance } from '#shared/chance.ts';
import { clock } from '#shared/clock.ts';
import { isOutage } from '#shared/errors/unavailable-error.ts';
import type { Logger } from '#shared/logging/logger.ts';
import { OutageLog } from '#shared/logging/outage-log.ts';
import type { CallLog, LoggedCall } from './call-log.ts';

const intervalMs = 1_000;
/** Maximum size of the records of one project in a second: about 250 calls. */
const maxBytesPerSecond = 96 * 1024;
/** Maximum number of calls that are stored together, so that neither the event loop nor other writes wait long. */
const maxCallsTogether = 500;

export interface CallRecorderOptions {
  readonly admission: Pick<Admission, 'rooms'>;
  readonly calls: Pick<CallLog, 'add'>;
  readonly log: Logger;
  /** The time in ms since 1970. */
  readonly now?: () => number;
}

interface WaitingCall {
  readonly id: string;
  readonly record: CallRecord;
  readonly bytes: number;
}

interface FormedCall {
  readonly call: WaitingCall;
  readonly logged: LoggedCall;
}

/** Calls that are not stored because of their records, and the names of the errors. */
interface RefusedCalls {
  calls: number;
  readonly errors: Set<string>;
}

/**
 * Collects the records of calls and stores them once a second. A crash loses a second of them. Bytes are estimated,
 * because a record gets its stored form when it is stored. When a project has more than may wait, its oldest calls go.
 */
export class CallRecorder {
  readonly #options: CallRecorderOptions;
  readonly #now: () => number;
  readonly #outage: OutageLog;
  readonly #storing = new Debouncer(intervalMs, (guard) => this.#store(guard(this.#options.calls)));
  /** The waiting calls by project, oldest first. */
  #waiting = new Map<string, WaitingCall[]>();
  readonly #room: FairPlaces;
  /** When the oldest waiting call was added; null without one. */
  #since: number | null = null;
  readonly #idPrefix = chance.randomUuid().slice(0, 13);
  #added = 0;
  #dropped = 0;

  constructor(options: CallRecorderOptions) {
    this.#options = options;
    this.#room = options.admission.rooms['call record'];
    this.#now = options.now ?? clock.time;
    this.#outage = new OutageLog(options.log, 'The store of the records of calls');
  }

  /** The number of calls without a record, because there were too many or the store refuses it. */
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
  async flush(): Promise<void> {
    await this.#storing.flush();
  }

  /** Stores what waits, for the last time. */
  async close(): Promise<void> {
    this.#storing.stop();
    await this.flush();
  }

  #maxBytesOfProject(): number {
    const seconds = this.#since === null ? 0 : (this.#now() - this.#since) / 1_000;
    return maxBytesPerSecond * Math.max(1, seconds);
  }

  #waitingCallOf(record: CallRecord): WaitingCall {
    const { model, requestId, attempts } = record;
    this.#added += 1;
    return {
      record,
      id: `${this.#idPrefix}-${this.#added.toString(36)}`,
      bytes: 400 + requestId.length + model.length + 150 * attempts.length,
    };
  }

  /** Keeps a call. Where there is no room for it, the oldest ones of its project go. */
  #keep(call: WaitingCall): void {
    const project = projectOf(call);
    const calls = this.#waiting.get(project) ?? [];
    this.#waiting.set(project, calls);
    while (!this.#takeRoom(project, call.bytes)) {
      const oldest = calls.shift();
      this.#dropped += 1;
      if (oldest === undefined) return;
      this.#room.giveBack(project, oldest.bytes);
    }
    calls.push(call);
  }

  #takeRoom(project: string, bytes: number): boolean {
    return this.#room.bytesOf(project) + bytes <= this.#maxBytesOfProject() && this.#room.take(project, bytes);
  }

  #takeWaiting(): ReadonlyArray<WaitingCall> {
    const calls = [...this.#waiting.values()].flat();
    this.#waiting = new Map();
    for (const call of calls) this.#room.giveBack(projectOf(call), call.bytes);
    return calls;
  }

  async #store(log: CallRecorderOptions['calls']): Promise<void> {
    const since = this.#since;
    this.#since = null;
    const unstored = await this.#storeAll(log, this.#takeWaiting());
    if (unstored.length === 0) return;
    this.#since = since;
    for (const call of [...unstored, ...this.#takeWaiting()]) this.#keep(call);
    this.#storing.schedule();
  }

  /**
   * Stores calls together. When the store refuses some, it stores each half of them, down to the refused call, which is
   * dropped.
   * @returns the calls that are left when the store cannot be used
   */
  async #storeAll(
    log: CallRecorderOptions['calls'],
    calls: ReadonlyArray<WaitingCall>,
  ): Promise<ReadonlyArray<WaitingCall>> {
    const refused = { calls: 0, errors: new Set<string>() };
    const parts = partsOf(formedCallsOf(calls, refused), maxCallsTogether).reverse();
    for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
      try {
        await log.add(part.map(({ logged }) => logged));
        this.#outage.succeeded();
      } catch (error) {
        if (isOutage(error)) {
          this.#outage.failed(error);
          parts.push(part);
          break;
        }
        const [first] = part;
        if (part.length > 1) parts.push(...partsOf(part, Math.ceil(part.length / 2)).reverse());
        else if (first !== undefined) refuse(error, refused);
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

const maxErrorNames = 5;

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}

function refuse(error: unknown, refused: RefusedCalls): void {
  refused.calls += 1;
  refused.errors.add(nameOf(error));
}

/** A call without a stored form is refused alone. */
function formedCallsOf(calls: ReadonlyArray<WaitingCall>, refused: RefusedCalls): ReadonlyArray<FormedCall> {
  const formed: FormedCall[] = [];
  for (const call of calls) {
    try {
      formed.push({ call, logged: loggedCallOf(call) });
    } catch (error) {
      refuse(error, refused);
    }
  }
  return formed;
}

function partsOf(calls: ReadonlyArray<FormedCall>, size: number): ReadonlyArray<FormedCall>[] {
  const parts: ReadonlyArray<FormedCall>[] = [];
  for (let from = 0; from < calls.length; from += size) parts.push(calls.slice(from, from + size));
  return parts;
}

function projectOf({ record }: WaitingCall): string {
  return record.projectId ?? '';
}

function loggedCallOf(call: WaitingCall): LoggedCall {
  return { id: call.id, projectId: projectOf(call), call: recordedCallOf(call.record) };
}

function recordedCallOf(record: CallRecord): LoggedCall['call'] {
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
