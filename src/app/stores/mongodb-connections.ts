import type { Config } from '#app/config.ts';
import type { Metrics } from '#http/routes/metrics.ts';
import type { OnCommand } from '#mongodb/command-monitor.ts';
import type { MongoDbAvailability } from '#mongodb/mongodb-availability.ts';
import type { MongoDbConnection } from '#mongodb/mongodb-connection.ts';
import { withVariableName } from '#shared/errors/startup-error.ts';
import type { Logger } from '#shared/logging/logger.ts';

/**
 * What a client of this thread is for, and the time limit of its calls. Each has its own connections, so that slow
 * lists and uploads never delay a lease. The projector thread has one more, for its writes.
 */
const timeoutsMs = {
  /** Leases, and reads that are repeated many times a second. */
  leases: 1_000,
  /** Queries, records, keys of personal data and the log of deliveries. */
  queries: 5_000,
  blobs: 5_000,
};

export type MongoDbPurpose = keyof typeof timeoutsMs;

export interface MongoDbConnectionsOptions {
  readonly log: Logger;
  readonly maxPoolSize: number;
  readonly onCommand: OnCommand;
}

/** Opens clients whose commands are counted. Nothing connects yet. */
export function openMongoDbConnections(
  { limits }: Pick<Config, 'limits'>,
  log: Logger,
  metrics: Pick<Metrics, 'mongoDbCommand'>,
): MongoDbConnections {
  return new MongoDbConnections({
    log,
    maxPoolSize: limits.mongoDbMaxPoolSize,
    onCommand: metrics.mongoDbCommand,
  });
}

/** One client for each purpose, and one availability for all users of an address. */
export class MongoDbConnections {
  readonly #options: MongoDbConnectionsOptions;
  readonly #availabilities = new Map<string, MongoDbAvailability>();
  readonly #connections = new Map<string, MongoDbConnection>();

  constructor(options: MongoDbConnectionsOptions) {
    this.#options = options;
  }

  /**
   * All callers with the same address and purpose share it.
   * @param variable with the address
   * @param timeoutMs of a call of the first caller. Default: that of the purpose
   * @throws StartupError for a malformed address
   */
  async to(
    url: string,
    variable: string,
    purpose: MongoDbPurpose,
    timeoutMs: number | (() => number) = timeoutsMs[purpose],
  ): Promise<MongoDbConnection> {
    // The driver takes much of a start's time to load. A start with embedded stores does not load it.
    const [{ MongoDbAvailability }, { MongoDbConnection }] = await Promise.all([
      import('#mongodb/mongodb-availability.ts'),
      import('#mongodb/mongodb-connection.ts'),
    ]);
    const { log, maxPoolSize, onCommand } = this.#options;
    const availability =
      this.#availabilities.get(url) ?? new MongoDbAvailability({ url, urlName: variable, log, onCommand });
    this.#availabilities.set(url, availability);
    const key = `${purpose} ${url}`;
    const connection =
      this.#connections.get(key) ??
      withVariableName(variable, () => new MongoDbConnection({ url, timeoutMs, availability, maxPoolSize, onCommand }));
    this.#connections.set(key, connection);
    return connection;
  }

  /** Their users must be closed before. */
  async close(): Promise<void> {
    await Promise.all([...this.#connections.values()].map((connection) => connection.close()));
    await Promise.all([...this.#availabilities.values()].map((availability) => availability.close()));
  }
}
