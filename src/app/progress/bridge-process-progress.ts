import type { ProcessProgress } from '#application/commands/process-progress.ts';
import type { FollowedPosition, FollowerInfo, FollowerKind, PositionSink } from '#positions/positions.ts';
import { isAwaited, type Process } from '#process-engine/process.ts';
import type { ProcessCheckpoints } from '#process-engine/process-checkpoints.ts';
import { PositionWaiter } from '#projection-engine/progress/position-waiter.ts';
import { delay } from '#shared/async/delay.ts';

const pollIntervalMs = 10;
const maxEffects = 1_000;

/** Gives the positions of processes to the waits of commands. The registry of positions replaces it. */
export class BridgedProcessProgress implements PositionSink {
  readonly #names: ReadonlyArray<string>;
  readonly #waiter = new PositionWaiter();
  readonly #closing = new AbortController();
  /** Read while callers wait on nodes that share their stores; null on a single node. */
  readonly #checkpoints: Pick<ProcessCheckpoints, 'read'> | null;
  readonly progress: ReadonlyArray<ProcessProgress>;
  #effects: Array<{ readonly process: string; readonly cause: number; readonly appended: number }> = [];
  #positions: ReadonlyMap<string, FollowedPosition>;
  #polling: Promise<void> | null = null;

  constructor(processes: ReadonlyArray<Process>, checkpoints: Pick<ProcessCheckpoints, 'read'> | null) {
    const awaited = processes.filter(isAwaited);
    this.#checkpoints = checkpoints;
    this.#names = awaited.map(({ name }) => name);
    this.#positions = new Map(this.#names.map((name) => [name, { position: 0, live: true }]));
    this.update('process', this.#positions);
    this.progress = awaited.map((process, index) => ({
      handles: (events) => events.some((event) => process.handles(event)),
      waitUntilProcessed: (position, milliseconds) => this.#wait(process.name, index, position, milliseconds),
    }));
  }

  declare(_kind: FollowerKind, _followers: ReadonlyArray<FollowerInfo>): void {}

  update(_kind: FollowerKind, positions: ReadonlyMap<string, FollowedPosition>): void {
    this.#positions = positions;
    this.#waiter.update(this.#names.map((name) => positions.get(name)));
  }

  recordEffect(process: string, cause: number, appended: number): void {
    this.#effects.push({ process, cause, appended });
    if (this.#effects.length > maxEffects) this.#effects.shift();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#waiter.close();
    await this.#polling;
  }

  async #wait(name: string, index: number, position: number, milliseconds: number): Promise<number | null> {
    const passed = this.#waiter.wait([index], position, false, milliseconds);
    if (this.#checkpoints !== null && this.#waiter.waiting) this.#polling ??= this.#poll(this.#checkpoints);
    await passed;
    if ((this.#positions.get(name)?.position ?? 0) < position) return null;
    const own = this.#effects.filter(({ process, cause }) => process === name && cause <= position);
    return Math.max(0, ...own.map(({ appended }) => appended));
  }

  async #poll(checkpoints: Pick<ProcessCheckpoints, 'read'>): Promise<void> {
    const { signal } = this.#closing;
    while (this.#waiter.waiting && !signal.aborted) {
      const record = await checkpoints.read().catch(() => null);
      if (record !== null) {
        this.#effects = [...record.effects];
        const positions = Object.entries(record.checkpoints).map(
          ([name, { position, failure, waitingFor }]): [string, FollowedPosition] => [
            name,
            { position, live: failure === null && waitingFor === null },
          ],
        );
        this.update('process', new Map(positions));
      }
      if (this.#waiter.waiting) await delay(pollIntervalMs, signal);
    }
    // The state may change before the next caller comes.
    this.update(
      'process',
      new Map([...this.#positions].map(([name, { position }]) => [name, { position, live: true }])),
    );
    this.#polling = null;
  }
}
