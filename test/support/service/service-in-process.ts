import { compose } from '#app/compose.ts';
import { readConfig } from '#app/config.ts';
import { bind, serve } from '#app/serve.ts';
import { loggerOn } from '#shared/logging/pino-logger.ts';
import { eventually } from '#test/support/run/eventually.ts';
import { Client } from './client.ts';
import { adminKey, type ServiceOptions, variablesOf } from './service-process.ts';

/** The service in the process of the tests, on real sockets and files. */
export interface ServiceInProcess {
  readonly url: string;
  /** A client with the admin key. */
  readonly client: Client;
  /** The lines of its log so far. */
  readonly log: string;
  /** Ends it in the order in which SIGTERM ends a process. May be called again. */
  readonly stop: () => Promise<void>;
}

/**
 * Starts the service like `src/main.ts`, but in this process, which takes less than half of the processor time. A test that
 * kills the service, sends it a signal, or reads its exit code or output needs a `ServiceProcess`.
 * @param waitsFor `listening` for a service that is not ready
 * @throws StartupError
 */
export async function composeService(
  { dataDir, environment }: Pick<ServiceOptions, 'dataDir' | 'environment'>,
  waitsFor: 'ready' | 'listening' = 'ready',
): Promise<ServiceInProcess> {
  const config = readConfig(variablesOf(dataDir, environment));
  const lines: string[] = [];
  const log = loggerOn(config.logLevel, { write: (line: string) => lines.push(line) });
  const servers = await bind(config);
  const stopServers = () => Promise.all([servers.api.stop(), servers.metrics?.stop()]);
  const service = await compose(config, { log, printAdminKey: refuseKey, onFatal: fail }).catch(
    async (error: unknown) => {
      await stopServers();
      throw error;
    },
  );
  const { endServing } = await serve(config, service, servers, log);
  const url = `http://${config.host}:${servers.api.port}`;
  const client = new Client(url, adminKey);
  const end = async () => {
    service.endFeeds();
    await Promise.all([endServing(), stopServers()]);
    await service.close();
    await client.close();
  };
  let ended: Promise<void> | undefined;
  const stop = () => {
    ended ??= end();
    return ended;
  };
  const composed = {
    url,
    client,
    get log() {
      return lines.join('');
    },
    stop,
  };
  if (waitsFor === 'ready') await untilReady(composed);
  return composed;
}

async function untilReady({ client, stop }: ServiceInProcess): Promise<void> {
  try {
    await eventually(async () => (await client.get('/readyz')).status === 200, 'the service is ready');
  } catch (error) {
    await stop();
    throw error;
  }
}

function refuseKey(): never {
  throw new Error('A key that a first start makes and prints needs a process.');
}

/** Ends the run: an embedded store takes no more changes. */
function fail(error: Error): never {
  throw error;
}
