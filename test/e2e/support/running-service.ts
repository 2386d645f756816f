import type { Client } from '#test/support/service/client.ts';
import type { Engines } from '#test/support/service/engines.ts';
import {
  type ServiceEnvironment,
  type ServiceProcess,
  startService,
  temporaryFolder,
} from '#test/support/service/service-process.ts';

/** The service of a suite. */
export interface RunningService {
  /** A client with the admin key. Read it in hooks and tests only. */
  readonly client: Client;
  /** Where the service listens. Read it in hooks and tests only. */
  readonly url: string;
  /** Its `DATA_DIR`. */
  readonly dataDir: string;
  /** Kills the service and starts it again on its data. @returns a client of the new process */
  readonly restarted: () => Promise<Client>;
}

/**
 * How long answers wait for the read models at most. It is long, because these tests do not check how soon a write shows
 * on a busy machine.
 */
const readYourWritesTimeoutMs = 60_000;

/** Starts a service on these stores before a suite, and ends it after it. Call it in the callback of `describe`. */
export function runningService({ environment }: Engines, further: ServiceEnvironment = {}): RunningService {
  const folder = temporaryFolder();
  let service: ServiceProcess | undefined;
  const started = async () => {
    const variables = { READ_YOUR_WRITES_TIMEOUT_MS: String(readYourWritesTimeoutMs), ...environment(), ...further };
    service = await startService({ dataDir: folder.path, environment: variables });
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
    get url() {
      if (service === undefined) throw new Error('The service is not started yet.');
      return service.url;
    },
    dataDir: folder.path,
    restarted: async () => {
      await service?.kill();
      return started();
    },
  };
}
