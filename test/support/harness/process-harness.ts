import type { RecordedEvent } from '#event-store/event-store.ts';
import type { Process } from '#process-engine/process.ts';
import type { Service } from './in-memory-service.ts';
import { processTools } from './process-tools.ts';

/** Drives a process over a service's log by hand: a step at a time, so that a test can come between. */
export class ProcessDrive {
  readonly #process: Process;
  readonly #service: Service;
  /** The position that it has passed. */
  position: number;

  constructor(process: Process, service: Service, position = 0) {
    this.#process = process;
    this.#service = service;
    this.position = position;
  }

  /** Reacts to everything not seen yet, its own events too. */
  async settle(): Promise<void> {
    for (let event = this.#next(); event !== undefined; event = this.#next()) {
      await this.react(event);
      this.position = event.position;
    }
  }

  /** Reacts to one event, seen before or not. */
  async react(event: RecordedEvent): Promise<void> {
    const { types, concerns, react } = this.#process;
    const { handler, documents } = this.#service;
    if (types.includes(event.type) && concerns(event)) await react(event, processTools(handler, documents, event));
  }

  #next(): RecordedEvent | undefined {
    return this.#service.store.log.find(({ position }) => position > this.position);
  }
}

/**
 * Runs a process as one that ends at every append in turn and begins again from what it had passed: first at its
 * first append, then at its second, and so on, each time once before and once after the append was stored.
 * @param story makes the log that the process reacts to, always the same
 * @param outcome what must be the same however often the process ended
 */
export async function endedEverywhere(
  process: Process,
  story: () => Promise<Service>,
  outcome: (service: Service) => Promise<unknown>,
  compare: (actual: unknown, expected: unknown, what: string) => void,
): Promise<void> {
  const undisturbed = await story();
  await new ProcessDrive(process, undisturbed).settle();
  const expected = await outcome(undisturbed);
  const appends = undisturbed.store.log.length;
  for (let number = 1; number <= appends; number += 1) {
    for (const stored of [false, true]) {
      const service = await story();
      const ended = await endAt(process, service, number, stored);
      const after = ended === null ? service : service.restarted();
      if (ended !== null) await new ProcessDrive(process, after, ended).settle();
      compare(await outcome(after), expected, `ended at append ${number}, ${stored ? 'stored' : 'not stored'}`);
      if (ended === null) return;
    }
  }
}

/** @returns the position that it had passed when it ended; null when it came to the end first */
async function endAt(process: Process, service: Service, number: number, stored: boolean): Promise<number | null> {
  const drive = new ProcessDrive(process, service);
  const { store } = service;
  const append = store.append.bind(store);
  let left = number;
  store.append = (stream, expectedRevision, events) => async () => {
    left -= 1;
    if (left > 0) return append(stream, expectedRevision, events)();
    if (stored) await append(stream, expectedRevision, events)();
    throw new Error('the process ended');
  };
  try {
    await drive.settle();
    return null;
  } catch (error) {
    if (left > 0) throw error;
    return drive.position;
  } finally {
    store.append = append;
  }
}
