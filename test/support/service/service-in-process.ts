import { compose } from '#app/compose.ts';
import { readConfig } from '#app/config.ts';
import { bind, serve } from '#app/serve.ts';
import { printAdminKey } from '#app/startup/first-start.ts';
import { loggerOn } from '#shared/logging/pino-logger.ts';
import { Client } from './client.ts';
import { adminKey, type ServiceOptions, variablesOf } from './service-process.ts';

/** The service in the process of the tests, on real sockets and files. */
export interface ServiceInProcess {
  readonly dataDir: string;
  readonly url: string;
  /** A client with the admin key. */
  readonly client: Client;
  /** Ends it in the order in which SIGTERM ends a process. */
  readonly stop: () => Promise<void>;
}

/**
 * Starts the service like `src/main.ts`, but in this process, which takes less than half of the processor time. What a
 * test kills, sends a signal or reads the output of is a `ServiceProcess`.
 */
export async function composeService({
  dataDir,
  environment,
}: Pick<ServiceOptions, 'dataDir' | 'environment'>): Promise<ServiceInProcess> {
  const config = readConfig(variablesOf(dataDir, environment));
  const log = loggerOn(config.logLevel, process.stdout);
  const servers = await bind(config);
  const stopServers = () => Promise.all([servers.api.stop(), servers.metrics?.stop()]);
  const service = await compose(config, { log, printAdminKey, onFatal: fail }).catch(async (error: unknown) => {
    await stopServers();
    throw error;
  });
  const { endServing } = await serve(config, service, servers, log);
  const url = `http://${config.host}:${servers.api.port}`;
  const client = new Client(url, adminKey);
  const stop = async () => {
    service.endFeeds();
    await Promise.all([endServing(), stopServers()]);
    await service.close();
    await client.close();
  };
  return { dataDir, url, client, stop };
}

/** Ends the run: an embedded store takes no more changes. */
function fail(error: Error): never {
  throw error;
}
