import type { Client } from '#test/support/service/client.ts';
import type { Engines } from '#test/support/service/engines.ts';
import {
  type ServiceEnvironment,
  type ServiceProcess,
  startService,
  temporaryFolder,
} from '#test/support/service/service-process.ts';

/** A suite's service. */
export interface RunningService {
  /** Holds its first admin key. To be asked in hooks and tests. */
  readonly client: Client;
  /** Kills it, and starts it on what it left. @returns the new one's client */
  readonly restarted: () => Promise<Client>;
}

/**
 * How long its answers wait for the read models at most. A test that reads what was written means no statement about how
 * soon that shows on a busy machine.
 */
const showLimitMilliseconds = 10_000;

/** Starts a service on these stores before a suite, and ends it after: to be called where the suite is described. */
export function runningService({ environment }: Engines, further: ServiceEnvironment = {}): RunningService {
  const folder = temporaryFolder();
  let service: ServiceProcess | undefined;
  const started = async () => {
    const told = { READ_YOUR_WRITES_TIMEOUT_MS: String(showLimitMilliseconds), ...environment(), ...further };
    service = await startService({ dataDir: folder.path, environment: told });
    return service.client;
  };
  before(async function () {
    this.timeout(180_000);
    await started();
  });
  after(async () => {
    await service?.kill();
    folder.remove();
  });
  return {
    get client() {
      if (service === undefined) throw new Error('The service is not started yet.');
      return service.client;
    },
    restarted: async () => {
      await service?.kill();
      return started();
    },
  };
}
