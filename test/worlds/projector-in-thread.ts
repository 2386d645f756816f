import { EventEmitter } from 'node:events';
import type { FromProjector, ToProjector } from '#projection-engine/hosting/projector-messages.ts';
import type { ProjectorWorker } from '#projection-engine/hosting/projector-worker.ts';
import type { SimulatedTime } from './simulated-time.ts';

/** What a projector thread does until its signal aborts. */
type ProjectorWork = (post: (message: FromProjector) => void, signal: AbortSignal) => Promise<void>;

/** How long a message between two threads takes. */
const messageMs = 0.05;

/** A projector thread of a node of a world. It runs in the world's thread, and its messages are copied. */
export class ProjectorInThread extends EventEmitter implements ProjectorWorker {
  readonly #time: SimulatedTime;
  readonly #closing = new AbortController();
  #hasEnded = false;

  constructor(time: SimulatedTime, work: ProjectorWork) {
    super();
    this.#time = time;
    // A thread starts later.
    time.in(messageMs, () => void this.#run(work));
  }

  postMessage(message: ToProjector): void {
    if (message.kind === 'close') this.#time.in(messageMs, () => this.#closing.abort());
  }

  async terminate(): Promise<number> {
    this.#end(1);
    return 1;
  }

  async #run(work: ProjectorWork): Promise<void> {
    try {
      await work((message) => this.#post(message), this.#closing.signal);
      this.#end(0);
    } catch (error) {
      if (!this.#hasEnded) this.emit('error', error as Error);
      this.#end(1);
    }
  }

  #post(message: FromProjector): void {
    const copy = structuredClone(message);
    this.#time.in(messageMs, () => {
      if (!this.#hasEnded) this.emit('message', copy);
    });
  }

  #end(code: number): void {
    this.#time.in(messageMs, () => {
      if (this.#hasEnded) return;
      this.#hasEnded = true;
      this.emit('exit', code);
    });
  }
}
