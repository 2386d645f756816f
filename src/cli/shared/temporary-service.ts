import { compose } from '#app/compose.ts';
import type { Config } from '#app/config.ts';
import { openControlSocket } from '#app/control-socket.ts';
import { createLocalApp } from '#app/local-app.ts';
import { readProductVersion } from '#app/product-version.ts';
import { printAdminKey } from '#app/startup/first-start.ts';
import { createLog } from '#shared/logging/pino-logger.ts';

/**
 * Starts the service for one command-line tool, on the configured stores, with only the control socket.
 * @param path the path of the control socket
 * @returns a function that stops it
 * @throws StartupError
 */
export async function startTemporaryService(config: Config, path: string): Promise<() => Promise<void>> {
  const log = await createLog('error');
  const service = await compose(config, {
    log: log.logger,
    printAdminKey,
    onFatal: (error) => log.logger.fatal({ err: error }, 'An embedded store takes no more changes'),
  });
  const { readiness, metrics, admission } = service;
  const options = {
    readiness,
    version: readProductVersion(),
    metrics,
    admission,
    log: log.logger,
    limits: config.limits,
  };
  const createOnDemand = async () => createLocalApp({ ...options, operations: await service.loadLocalOperations() });
  const closeSocket = await openControlSocket(createOnDemand, path);
  return async () => {
    await closeSocket();
    await service.close();
    log.close();
  };
}
