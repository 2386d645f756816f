import type { RecordedEvent } from '#event-store/event-store.ts';
import { type AwaitedReactions, effectsShown } from '#positions/awaited-reactions.ts';
import type { Positions } from '#positions/positions.ts';
import type { PendingResources, WrittenResources } from './pending-resources.ts';

/** A process that handles events in order, so that an answer waits for its effects. */
export interface ReactingProcess {
  readonly name: string;
  /** The event types that it looks at. */
  readonly types: ReadonlyArray<string>;
  /** Whether it may react to an event of these types, as far as the event alone shows. It does not throw. */
  readonly handles: (event: RecordedEvent) => boolean;
}

export interface ReadYourWritesOptions {
  readonly positions: Positions;
  readonly processes: ReadonlyArray<ReactingProcess>;
  readonly pending: Pick<PendingResources, 'add'>;
  /** The longest wait of an answer in milliseconds. */
  readonly timeoutMs: number;
}

/**
 * Read your own write: holds an answer until the read models show the events that its request appended, and what
 * processes appended because of these events. After a timeout the answer is sent anyway. It waits neither for a stopped
 * read model nor for a stopped or waiting process. What the read models do not show yet is left as pending.
 */
export class ReadYourWrites {
  readonly #options: ReadYourWritesOptions;
  readonly #byType = new Map<string, ReactingProcess[]>();

  constructor(options: ReadYourWritesOptions) {
    this.#options = options;
    for (const process of options.processes) {
      for (const type of process.types) this.#byType.set(type, [...(this.#byType.get(type) ?? []), process]);
    }
  }

  /**
   * Waits until queries show the appended events and their effects.
   * @param written returns the resources that the request wrote. If they are not shown, a read of them waits in its turn.
   */
  async wait(appended: ReadonlyArray<RecordedEvent>, written: () => WrittenResources): Promise<void> {
    const position = appended.at(-1)?.position;
    if (position === undefined) return;
    const { positions, pending, timeoutMs } = this.#options;
    const reactions = this.#reactionsTo(appended);
    const types = appended.map(({ type }) => type);
    const outcomes = await Promise.all([
      positions.passed({ types }, position, { ms: timeoutMs }),
      effectsShown(positions, reactions, timeoutMs),
    ]);
    // No answer waits for a read model that has stopped, or whose position is unknown. A read of it must not find nothing.
    const isShown = positions.hasPassed({ types }, position, { strict: true });
    if (!isShown || outcomes.includes('timeout')) pending.add({ ...written(), position, reactions });
  }

  #reactionsTo(appended: ReadonlyArray<RecordedEvent>): AwaitedReactions {
    const reactions = new Map<string, number[]>();
    for (const event of appended) {
      for (const { name, handles } of this.#byType.get(event.type) ?? []) {
        if (handles(event)) reactions.set(name, [...(reactions.get(name) ?? []), event.position]);
      }
    }
    return reactions;
  }
}
