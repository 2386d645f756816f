import type { MongoDbAvailability } from '#mongodb/mongodb-availability.ts';
import type { Logger } from '#shared/logging/logger.ts';

/** Whether each MongoDB that the configuration names can be used: one state and one log line for all who use it. */
export class MongoDbAvailabilities {
  readonly #log: Logger;
  readonly #byUrl = new Map<string, MongoDbAvailability>();

  constructor(log: Logger) {
    this.#log = log;
  }

  /**
   * Its state, the same for everybody who names the same address.
   * @param variable holds the address
   */
  async at(url: string, variable: string): Promise<MongoDbAvailability> {
    // The driver takes a good part of a start to load, which a start on embedded stores is spared.
    const { MongoDbAvailability } = await import('#mongodb/mongodb-availability.ts');
    const known = this.#byUrl.get(url);
    if (known !== undefined) return known;
    const made = new MongoDbAvailability({ url, urlName: variable, log: this.#log });
    this.#byUrl.set(url, made);
    return made;
  }

  /** Probes no more. Those who use it are closed before. */
  async close(): Promise<void> {
    await Promise.all([...this.#byUrl.values()].map((availability) => availability.close()));
  }
}
