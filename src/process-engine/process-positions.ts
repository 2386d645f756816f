import type { FollowedPosition, PositionSink } from '#positions/positions.ts';
import type { Process } from './process.ts';

/** Collects the positions of the processes that run on this node, each by itself, for the sink. */
export class ProcessPositions {
  readonly #sink: PositionSink;
  readonly #positions = new Map<string, FollowedPosition>();

  constructor(sink: PositionSink, processes: ReadonlyArray<Process>) {
    this.#sink = sink;
    sink.declare('process', processes);
  }

  /** Sets the position of a process; null when it does not run here any more. */
  set(process: string, followed: FollowedPosition | null): void {
    if (followed === null) this.#positions.delete(process);
    else this.#positions.set(process, followed);
    this.#sink.update('process', new Map(this.#positions));
  }

  /** Reports an append of a process because of an event. */
  recordEffect(process: string, cause: number, appended: number): void {
    this.#sink.recordEffect(process, cause, appended);
  }
}
