import assert from 'node:assert/strict';
import type { Client } from '#test/support/service/client.ts';
import { type Engines, embeddedStores } from '#test/support/service/engines.ts';
import { composeService } from '#test/support/service/service-in-process.ts';
import {
  type ServiceEnvironment,
  startService,
  type TemporaryFolder,
  temporaryFolder,
} from '#test/support/service/service-process.ts';
import { freshProject, patientReads } from '#test/support/service/shared-service.ts';

/** A service that a suite calls. Read its members in hooks and tests only. */
export interface CalledService {
  /** A client with an admin key. */
  readonly client: Client;
  /** Where the service listens. */
  readonly url: string;
}

/** A service of one suite alone. */
export interface SpawnedService extends CalledService {
  /** Its `DATA_DIR`. */
  readonly dataDir: string;
}

/** A service in a process of its own. */
export interface RunningService extends SpawnedService {
  /** Kills the service and starts it again on its data. @returns a client of the new process */
  readonly restarted: () => Promise<Client>;
}

/**
 * A service for a suite that needs only a project of its own: on embedded stores the one that such suites share. Call it
 * in the callback of `describe`.
 */
export function serviceOfProject(engines: Engines): CalledService {
  if (engines !== embeddedStores) return runningService(engines);
  return duringSuite(freshProject, async () => undefined);
}

/**
 * A service for a suite that needs stores or variables of its own, and neither kills nor looks at a process: on embedded
 * stores it runs in the process of the tests. Call it in the callback of `describe`.
 */
export function composedService(engines: Engines, further: ServiceEnvironment = {}): SpawnedService {
  if (engines !== embeddedStores) return runningService(engines, further);
  const environment = { ...patientReads, ...further };
  return duringSuite(
    (dataDir) => composeService({ dataDir: dataDir(), environment }),
    (service) => service.stop(),
  );
}

/** A service in a process of its own. Call it in the callback of `describe`. */
export function runningService({ environment }: Engines, further: ServiceEnvironment = {}): RunningService {
  return duringSuite(
    (dataDir) => startService({ dataDir: dataDir(), environment: { ...patientReads, ...environment(), ...further } }),
    (service) => service.kill(),
  );
}

/** Hooks that start a service before the tests of a suite, and end it after them. */
function duringSuite<Service extends CalledService>(
  start: (dataDir: () => string) => Promise<Service>,
  end: (service: Service) => Promise<void>,
): RunningService {
  let folder: TemporaryFolder | undefined;
  let service: Service | undefined;
  const started = () => service ?? assert.fail('The service is not started yet.');
  const dataDir = () => {
    folder ??= temporaryFolder();
    return folder.path;
  };
  before(async function () {
    this.timeout(180_000);
    service = await start(dataDir);
  });
  after(async () => {
    if (service !== undefined) await end(service);
    folder?.remove();
  });
  return {
    get client() {
      return started().client;
    },
    get url() {
      return started().url;
    },
    get dataDir() {
      return dataDir();
    },
    restarted: async () => {
      await end(started());
      service = await start(dataDir);
      return service.client;
    },
  };
}
