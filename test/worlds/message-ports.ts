import { EventEmitter } from 'node:events';
import type { MessagePort } from 'node:worker_threads';
import type { SimulatedTime } from './simulated-time.ts';

/** How long a message between two threads takes. */
const messageMs = 0.05;

/** An end of a channel between two threads of a world, which are in truth one. It copies what it sends. */
class SimulatedPort extends EventEmitter {
  readonly #time: SimulatedTime;
  other: SimulatedPort | null = null;
  #isClosed = false;

  constructor(time: SimulatedTime) {
    super();
    this.#time = time;
  }

  postMessage(message: unknown): void {
    const { other } = this;
    if (this.#isClosed || other === null) return;
    const copy = structuredClone(message);
    this.#time.in(messageMs, () => {
      if (!other.#isClosed) other.emit('message', copy);
    });
  }

  close(): void {
    this.#time.in(messageMs, () => {
      this.#end();
      if (this.other !== null) this.other.#end();
    });
  }

  unref(): this {
    return this;
  }

  ref(): this {
    return this;
  }

  #end(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.emit('close');
    this.removeAllListeners();
  }
}

/** Opens a channel between two threads of a world. */
export function openSimulatedChannel(time: SimulatedTime): readonly [MessagePort, MessagePort] {
  const [one, other] = [new SimulatedPort(time), new SimulatedPort(time)];
  one.other = other;
  other.other = one;
  return [one as unknown as MessagePort, other as unknown as MessagePort];
}
