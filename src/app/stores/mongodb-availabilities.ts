import type { MongoDbAvailability } from '#mongodb/mongodb-availability.ts';
import type { Logger } from '#shared/logging/logger.ts';

/** The availability of each configured MongoDB: one state, and one log line, for all its users. */
export class MongoDbAvailabilities {
  readonly #log: Logger;
  readonly #byUrl = new Map<string, MongoDbAvailability>();

  constructor(log: Logger) {
    this.#log = log;
  }

  /**
   * Returns the availability of an address. All callers with the same address share it.
   * @param variable the variable with the address
   */
  async at(url: string, variable: string): Promise<MongoDbAvailability> {
    // The driver takes much of a start's time to load. A start with embedded stores does not load it.
    const { MongoDbAvailability } = await import('#mongodb/mongodb-availability.ts');
    const known = this.#byUrl.get(url);
    if (known !== undefined) return known;
    const made = new MongoDbAvailability({ url, urlName: variable, log: this.#log });
    this.#byUrl.set(url, made);
    return made;
  }

  /** Stops all probes. The users must be closed before. */
  async close(): Promise<void> {
    await Promise.all([...this.#byUrl.values()].map((availability) => availability.close()));
  }
}
