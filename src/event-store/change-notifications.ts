import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';

/**
 * Sends the last stored position to one listener, which may be in another thread. The listener acknowledges each
 * message, and the next one covers all commits in between. So messages never accumulate for a busy listener.
 */
export class ChangeNotifier {
  readonly #port: MessagePort;
  #underWay = false;
  #position = 0;
  #sentPosition = 0;

  /** @param onClose called when the listener has closed its end */
  constructor(port: MessagePort, onClose: () => void) {
    this.#port = port;
    port.on('message', () => this.#acknowledged());
    port.on('close', onClose);
  }

  /** @param position of the last event stored */
  send(position: number): void {
    this.#position = position;
    // Looked for here too: a thread that commits without a pause does not come round to its ports for long.
    if (receiveMessageOnPort(this.#port) !== undefined) this.#underWay = false;
    if (this.#underWay || position === this.#sentPosition) return;
    this.#underWay = true;
    this.#sentPosition = position;
    this.#port.postMessage(position);
  }

  close(): void {
    this.#port.close();
  }

  #acknowledged(): void {
    this.#underWay = false;
    this.send(this.#position);
  }
}

/** Where subscriptions wait for something new to be stored. */
export class ChangeListener {
  /** The waits, each with the position that must be passed. */
  readonly #waiting = new Map<() => void, number>();
  #position = 0;
  #closed = false;

  /** Whether no more notifications will come: then every wait ends at once. */
  get closed(): boolean {
    return this.#closed;
  }

  /** @param position of the last event stored */
  notify(position: number): void {
    if (position <= this.#position) return;
    this.#position = position;
    for (const [wake, after] of [...this.#waiting]) if (after < position) wake();
  }

  /** Resolves when an event past the position is stored, the signal aborts, or no more notifications will come. */
  waitPast(position: number, signal: AbortSignal): Promise<void> {
    if (this.#position > position || this.#closed || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = () => {
        this.#waiting.delete(wake);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      this.#waiting.set(wake, position);
      signal.addEventListener('abort', wake, { once: true });
    });
  }

  close(): void {
    this.#closed = true;
    for (const wake of [...this.#waiting.keys()]) wake();
  }
}

/**
 * Listens on a port to the `ChangeNotifier` of another thread.
 * @returns the notifications; they close with the port
 */
export function listenForChanges(port: MessagePort): ChangeListener {
  const changes = new ChangeListener();
  port.on('message', (position: number) => {
    port.postMessage('acknowledged');
    changes.notify(position);
  });
  port.on('close', () => changes.close());
  return changes;
}
