import { setMaxListeners } from 'node:events';
import { nothingRead } from '#domain/shared/log-mark.ts';
import { identityOfLog } from '#event-store/log-identity.ts';
import type { LogTail } from '#event-store/log-tail.ts';
import type { Leases } from '#leases/leases.ts';
import { onOneNode } from '#leases/on-one-node.ts';
import type { Term } from '#leases/term.ts';
import {
  type ProcessCheckpoint,
  type ProcessEffect,
  type ProcessesRecord,
  startOfLog,
} from '#positions/position-poll.ts';
import type { FollowedPosition, PositionSink } from '#positions/positions.ts';
import { retrying } from '#shared/async/retrying.ts';
import { delay } from '#shared/async/timed-waits.ts';
import { levelOf } from '#shared/errors/unavailable-error.ts';
import { errorText } from '#shared/logging/logged-error.ts';
import type { Logger } from '#shared/logging/logger.ts';
import { isAwaited, type Process } from './process.ts';
import { CheckpointWriter, type ProcessCheckpoints } from './process-checkpoints.ts';
import { ProcessRequests } from './process-requests.ts';
import { ProcessRun, type ProcessRunOptions } from './process-run.ts';

export interface ProcessHostOptions
  extends Pick<ProcessRunOptions, 'store' | 'writer' | 'documents' | 'waitForPosition'> {
  readonly processes: ReadonlyArray<Process>;
  readonly tail: Pick<LogTail, 'follow' | 'firstEvent' | 'compare' | 'trail'>;
  readonly checkpoints: Pick<ProcessCheckpoints, 'take' | 'save'>;
  readonly positions: PositionSink;
  /** Null if this process is the only one. */
  readonly leases: Leases | null;
  readonly node: string;
  readonly log: Logger;
  /** Time between two saves of moved positions. Default 1 s. */
  readonly saveIntervalMs?: number;
}

const nothingDone = { checkpoints: {}, effects: [], read: nothingRead, liveFrom: 0 };
const defaultSaveIntervalMs = 1_000;
const maxEffects = 200;

/**
 * Runs all processes, on one node at a time. Each follows the log for itself, so none delays another. One record has
 * the checkpoints of all. It is fenced by the lease's token. Appends are not: a process that decides a second time
 * finds the work done, and appends nothing.
 */
export class ProcessHost {
  readonly #options: ProcessHostOptions;
  readonly #stopping = new AbortController();
  #running: Promise<void> | null = null;

  constructor(options: ProcessHostOptions) {
    this.#options = options;
  }

  start(): void {
    const { processes, positions, leases, node, log } = this.#options;
    const awaited = processes.filter(isAwaited);
    positions.declare('process', awaited);
    // Callers wait for a process until its position is known. On shared stores another node may run it.
    if (leases === null)
      positions.update('process', new Map(awaited.map(({ name }) => [name, { position: 0, live: true }])));
    this.#running = onOneNode({
      name: 'processes',
      leases,
      node,
      log,
      signal: this.#stopping.signal,
      work: (term) => new ProcessTerm(this.#options, term).run(),
      failureMessage: 'The processes have failed and are started again',
    });
  }

  /** Stops the processes after the appends in flight, and stores their checkpoints. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }
}

interface Beginning {
  readonly log: string;
  readonly checkpoints: ReadonlyMap<string, ProcessCheckpoint>;
  readonly effects: ReadonlyArray<ProcessEffect>;
  readonly end: number;
  /**
   * The position from which on callers wait for processes. Before it, the processes look again at events of the past.
   */
  readonly liveFrom: number;
}

class ProcessTerm {
  readonly #options: ProcessHostOptions;
  readonly #term: Term;
  readonly #signal: AbortSignal;
  readonly #writer: CheckpointWriter;
  #runs: ReadonlyArray<ProcessRun> = [];
  #log = '';
  #liveFrom = 0;
  #effects: ProcessEffect[] = [];
  #written: ProcessesRecord | null = null;
  #hasFailed = false;

  constructor(options: ProcessHostOptions, term: Term) {
    this.#options = guarded(options, term);
    this.#term = term;
    this.#signal = term.signal;
    // Every process and every paused reaction listens to it.
    setMaxListeners(0, this.#signal);
    this.#writer = new CheckpointWriter({
      write: () => this.#write(),
      onFenced: (error) => this.#fail(error),
      log: options.log,
      signal: this.#signal,
    });
  }

  /** @throws FencedError if another node runs the processes now */
  async run(): Promise<void> {
    const beginning = await this.#begin();
    if (beginning === null) return;
    this.#log = beginning.log;
    this.#liveFrom = beginning.liveFrom;
    this.#effects = [...beginning.effects];
    const requests = this.#newRequests(beginning);
    this.#runs = this.#options.processes.map((process) => this.#newRun(process, beginning, requests));
    for (const run of this.#runs) run.start();
    this.#report();
    await this.#keepSaving();
    this.#report();
    await Promise.all([...this.#runs.map((run) => run.ended()), requests.ended()]);
    await this.#end();
  }

  /** @returns null if the signal aborts first */
  async #begin(): Promise<Beginning | null> {
    const { store, tail, checkpoints, log } = this.#options;
    const identity = await identityOfLog(tail, this.#signal);
    if (identity === null) return null;
    const read = async () => {
      const taken = (await checkpoints.take(this.#term.token, identity)) ?? nothingDone;
      return { taken, end: await store.lastPosition() };
    };
    try {
      const { taken, end } = await retrying('Reading the checkpoints', read, { log, signal: this.#signal });
      const { checkpoints: known, effects, isTakenBack } = await this.#inLog(taken);
      const within = withinLog(known, end);
      const looksAgain = isTakenBack || within.size < Object.keys(known).length;
      const liveFrom = looksAgain ? end : Math.min(taken.liveFrom, end);
      return { log: identity, checkpoints: within, effects, end, liveFrom };
    } catch (error) {
      if (this.#signal.aborted) return null;
      throw error;
    }
  }

  /** Takes the checkpoints back to where the log is still the one that they were made on. */
  async #inLog(record: Pick<ProcessesRecord, 'checkpoints' | 'effects' | 'read'>) {
    const { tail, log } = this.#options;
    const { checkpoints, effects, read } = record;
    const compared = await tail.compare(read, this.#signal);
    if (compared?.lost == null) return { checkpoints, effects, isTakenBack: false };
    const position = compared.common?.position ?? 0;
    log.warn(
      { position: compared.lost.position, commonPosition: position },
      'The log no longer has events that processes have seen, as after a restore: they continue before these',
    );
    const before = Object.entries(checkpoints).map(([name, one]) => [name, takenBack(one, position)] as const);
    return { checkpoints: Object.fromEntries(before), effects: [], isTakenBack: true };
  }

  #newRequests({ checkpoints }: Beginning): ProcessRequests {
    const { processes, tail, store, log } = this.#options;
    const positions = processes.map(({ name }) => (checkpoints.get(name) ?? startOfLog).position);
    return new ProcessRequests({ tail, store, after: Math.min(...positions), log, signal: this.#signal });
  }

  #newRun(process: Process, { checkpoints, end, liveFrom }: Beginning, requests: ProcessRequests): ProcessRun {
    return new ProcessRun({
      ...this.#options,
      process,
      checkpoint: checkpoints.get(process.name) ?? startOfLog,
      endAtStart: end,
      liveFrom,
      requests,
      signal: this.#signal,
      onChange: (change) => {
        this.#report();
        if (change === 'state' || this.#isWatched(process)) this.#writer.request();
      },
      onAppended: (cause, appended) => this.#recordEffect(process, cause, appended),
      saved: () => this.#writer.saved(),
      onFailure: (error) => this.#fail(error),
    });
  }

  /** True if callers on other nodes wait until they see the checkpoint of the process. */
  #isWatched(process: Process): boolean {
    return this.#options.leases !== null && isAwaited(process);
  }

  #report(): void {
    const { leases, positions: sink } = this.#options;
    // From the end of the term on, what another node stores counts.
    const hasEnded = leases !== null && this.#signal.aborted;
    const awaited = hasEnded ? [] : this.#runs.filter(({ process }) => isAwaited(process));
    const positions = awaited.map(({ process, followed: { position, live } }): [string, FollowedPosition] => {
      return [process.name, { position, live: live && !this.#hasFailed }];
    });
    sink.update('process', new Map(positions));
  }

  #recordEffect(process: Process, cause: number, appended: number): void {
    this.#effects.push({ process: process.name, cause, appended });
    if (this.#effects.length > maxEffects) this.#effects.shift();
    this.#options.positions.recordEffect(process.name, cause, appended);
    if (!isAwaited(process)) return;
    // Callers wait until every process that reacts to their events has passed the appends of all of them.
    for (const run of this.#runs) if (isAwaited(run.process)) run.reportWhenPast(appended);
  }

  /** Saves positions until the term ends. They may have only passed events that no process handles. */
  async #keepSaving(): Promise<void> {
    const { saveIntervalMs = defaultSaveIntervalMs } = this.#options;
    while (!this.#signal.aborted) {
      await delay(saveIntervalMs, this.#signal);
      if (this.#signal.aborted || !this.#hasChanged()) continue;
      this.#report();
      this.#writer.request();
    }
  }

  #hasChanged(): boolean {
    return this.#runs.some(({ process, checkpoint: { position, failure, waitingFor } }) => {
      const written = this.#written?.checkpoints[process.name];
      if (written === undefined) return true;
      return written.position !== position || written.failure !== failure || written.waitingFor !== waitingFor;
    });
  }

  async #write(): Promise<void> {
    const record = {
      log: this.#log,
      token: this.#term.token,
      checkpoints: Object.fromEntries(this.#runs.map(({ process, checkpoint }) => [process.name, checkpoint])),
      // Only callers on other nodes read them.
      effects: this.#options.leases === null ? [] : [...this.#effects],
      read: this.#options.tail.trail.read,
      liveFrom: this.#liveFrom,
    };
    await this.#options.checkpoints.save(this.#term.token, record);
    this.#written = record;
  }

  /** Saves the last checkpoints. Without them, the next term sees some events again. */
  async #end(): Promise<void> {
    if (this.#hasChanged()) this.#writer.request();
    try {
      await this.#writer.end();
    } catch (error) {
      this.#options.log[levelOf(error)](
        { error: errorText(error) },
        'The last checkpoints of processes could not be stored',
      );
    }
  }

  /** Ends the term with a failure that none of the processes caused. */
  #fail(error: unknown): void {
    if (this.#signal.aborted) return;
    this.#hasFailed = true;
    this.#term.fail(error);
  }
}

/**
 * What a term may use. When it was left, a late reaction of it appends nothing, moves no checkpoint, and reports nothing
 * to callers.
 */
function guarded(options: ProcessHostOptions, { guard }: Term): ProcessHostOptions {
  return {
    ...options,
    store: guard(options.store),
    writer: guard(options.writer),
    documents: guard(options.documents),
    checkpoints: guard(options.checkpoints),
    positions: guard(options.positions),
    waitForPosition: guard(options.waitForPosition),
  };
}

function takenBack({ failure, ...before }: ProcessCheckpoint, position: number): ProcessCheckpoint {
  return {
    position: Math.min(before.position, position),
    lastAppended: Math.min(before.lastAppended, position),
    failure: failure !== null && failure.position <= position ? failure : null,
    waitingFor: null,
  };
}

/**
 * The checkpoints as far as the log has them. It may have been restored from a backup, and the events after that may
 * differ from those that the process has seen.
 */
function withinLog(checkpoints: ProcessesRecord['checkpoints'], end: number): ReadonlyMap<string, ProcessCheckpoint> {
  const within = Object.entries(checkpoints).filter(([, { position }]) => position <= end);
  // A read model never passes a position beyond the end.
  return new Map(within.map(([name, one]) => [name, { ...one, lastAppended: Math.min(one.lastAppended, end) }]));
}
