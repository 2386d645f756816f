import type { Client } from '#test/support/client.ts';
import type { Engines } from '#test/support/engines.ts';
import { type ServiceProcess, startService, temporaryFolder } from '#test/support/service-process.ts';

/** A suite's service. */
export interface RunningService {
  /** Holds its first admin key. To be asked in hooks and tests. */
  readonly client: Client;
  /** Kills it, and starts it on what it left. @returns the new one's client */
  readonly restarted: () => Promise<Client>;
}

/** Starts a service on these stores before a suite, and ends it after: to be called where the suite is described. */
export function runningService({ environment }: Engines): RunningService {
  const folder = temporaryFolder();
  let service: ServiceProcess | undefined;
  const started = async () => {
    service = await startService({ dataDir: folder.path, environment: environment() });
    return service.client;
  };
  before(async function () {
    this.timeout(70_000);
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
