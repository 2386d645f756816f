import type { RecordedEvent } from '#event-store/event-store.ts';
import { SeenStreams } from '#process-engine/cascade.ts';
import type { Process } from '#process-engine/process.ts';
import type { Service } from './in-memory-service.ts';
import { processTools } from './process-tools.ts';

/** Runs a process over a service's log one event at a time, so that a test can interfere between two events. */
export class ProcessDriver {
  readonly #process: Process;
  readonly #service: Service;
  readonly #met: SeenStreams;
  /** The position of the last handled event. */
  position: number;

  /** @param isFromBeginning whether it remembers the streams that it has met, as a runner from position 0 does */
  constructor(process: Process, service: Service, position = 0, isFromBeginning = position === 0) {
    this.#process = process;
    this.#service = service;
    this.#met = new SeenStreams(process, isFromBeginning);
    this.position = position;
  }

  /** Reacts to all unhandled events, including those that it appends. */
  async settle(): Promise<void> {
    for (let event = this.#next(); event !== undefined; event = this.#next()) {
      await this.handle(event);
      this.position = event.position;
    }
  }

  /** Reacts to one event, whether or not it was handled before. */
  async handle(event: RecordedEvent): Promise<void> {
    const { types, handles, handle } = this.#process;
    const { writer, documents } = this.#service;
    if (!types.includes(event.type) || !handles(event)) return;
    await handle(event, processTools(writer, documents, event, this.#met));
    this.#met.add(event);
  }

  #next(): RecordedEvent | undefined {
    return this.#service.store.log.find(({ position }) => position > this.position);
  }
}

/**
 * Interrupts a process at its first append, then in a new run at its second, and so on, each time once before and once
 * after the append is stored. Each run continues from the last handled position, and must end with the same outcome.
 * @param prepare creates the log that the process reacts to, always the same
 * @param outcome reads what the outcomes are compared by
 */
export async function interruptAtEachAppend(
  process: Process,
  prepare: () => Promise<Service>,
  outcome: (service: Service) => Promise<unknown>,
  compare: (actual: unknown, expected: unknown, what: string) => void,
): Promise<void> {
  const uninterrupted = await prepare();
  await new ProcessDriver(process, uninterrupted).settle();
  const expected = await outcome(uninterrupted);
  const appends = uninterrupted.store.log.length;
  for (let number = 1; number <= appends; number += 1) {
    for (const stored of [false, true]) {
      const service = await prepare();
      const interruptedAt = await interruptAt(process, service, number, stored);
      const after = interruptedAt === null ? service : service.restarted();
      if (interruptedAt !== null) await new ProcessDriver(process, after, interruptedAt).settle();
      compare(await outcome(after), expected, `interrupted at append ${number}, ${stored ? 'stored' : 'not stored'}`);
      if (interruptedAt === null) return;
    }
  }
}

/** @returns the last handled position when it was interrupted; null when it settled before */
async function interruptAt(
  process: Process,
  service: Service,
  number: number,
  stored: boolean,
): Promise<number | null> {
  const driver = new ProcessDriver(process, service);
  const { store } = service;
  const append = store.append.bind(store);
  let left = number;
  store.append = async (stream, expectedRevision, events) => {
    left -= 1;
    if (left > 0) return append(stream, expectedRevision, events);
    if (stored) await append(stream, expectedRevision, events);
    throw new Error('the process was interrupted');
  };
  try {
    await driver.settle();
    return null;
  } catch (error) {
    if (left > 0) throw error;
    return driver.position;
  } finally {
    store.append = append;
  }
}
