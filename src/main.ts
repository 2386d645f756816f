import type Koa from 'koa';
import type { Logger } from 'pino';
import packageJson from '../package.json' with { type: 'json' };
import { compose, type Service } from './app/compose.ts';
import { type Config, type Role, readConfig } from './app/config.ts';
import { controlSocketPath, createLocalInvoke, openControlSocket } from './app/control-socket.ts';
import { keepNewFilesPrivate } from './app/files/private-files.ts';
import { printAdminKey } from './app/startup/print-admin-key.ts';
import { RateLimit } from './application/access/rate-limit.ts';
import { isDiskFull } from './application/operations/disk-full.ts';
import { createInvoke } from './application/operations/invoke.ts';
import type { Plane } from './application/operations/operation.ts';
import { createApp, createMetricsApp } from './http/server/app.ts';
import { listen } from './http/server/server.ts';
import { StartupError } from './shared/errors/startup-error.ts';
import { createLog } from './shared/logging/logger.ts';

/** Of the time to stop, running requests leave this much for writing out what is not stored yet. */
const flushMilliseconds = 2_000;

keepNewFilesPrivate();
try {
  await start(readConfig(process.env));
} catch (error) {
  if (!(error instanceof StartupError)) throw error;
  process.stderr.write(`switchyard: ${error.message}\n`);
  // A door that was opened already would keep the process alive.
  process.exit(1);
}

async function start(config: Config): Promise<void> {
  const log = createLog(config.logLevel);
  let stopping = false;
  let closeAll: () => Promise<void> = async () => undefined;
  const stopOnce = (exitCode: number) => {
    if (stopping) return;
    stopping = true;
    setTimeout(() => process.exit(exitCode), config.limits.stopMilliseconds).unref();
    void closeAll().then(
      () => process.exit(exitCode),
      () => process.exit(1),
    );
  };
  const onFatal = (error: Error) => {
    log.logger.fatal({ err: error }, 'The event store takes no more changes: this process ends');
    stopOnce(1);
  };
  // From here on: the first process of a container is not ended by a signal that nobody handles.
  process.on('SIGTERM', () => stopOnce(0));
  process.on('SIGINT', () => stopOnce(0));
  const service = await compose(config, { log: log.logger, printAdminKey, onFatal });
  // Without a file there is nothing to read again, and a terminal that closes ends what runs in it.
  if (config.gatewayConfig !== null) process.on('SIGHUP', () => void service.reloadGateway());
  try {
    const closeDoors = await serve(config, service, log.logger);
    closeAll = async () => {
      await closeDoors();
      await service.close();
      log.logger.info('stopped');
      log.close();
    };
  } catch (error) {
    await service.close();
    log.close();
    throw error;
  }
}

/** Opens the doors. @returns closes them */
async function serve(
  config: Config,
  { operations, keys, readiness, metrics, bodies, directory }: Service,
  log: ReturnType<typeof createLog>['logger'],
): Promise<() => Promise<void>> {
  const limits = { ...config.limits, stopMilliseconds: requestsStopMilliseconds(config.limits) };
  const common = { operations, readiness, version: packageJson.version, metrics, bodies, log, limits: config.limits };
  const planes = planesOf(config.roles);
  const { requestsPerMinute, limitFactors } = config.limits;
  const rateLimit = requestsPerMinute === null ? null : new RateLimit(requestsPerMinute, limitFactors);
  const invoke = createInvoke({ authenticate: keys.resolve, rateLimit, metrics, logger: log });
  const app = createApp({ ...common, invoke, planes, servesMetrics: config.metricsPort === null });
  const server = await listen(app, { host: config.host, port: config.port }, limits);
  const doors = [() => server.stop()];
  if (config.metricsPort !== null) {
    const address = { host: config.host, port: config.metricsPort };
    const metricsServer = await listen(createMetricsApp(metrics), address, limits, 'HOST and METRICS_PORT');
    doors.push(() => metricsServer.stop());
  }
  const socketPath = controlSocketPath(config.dataDir);
  if (socketPath !== null) {
    const local = createApp({ ...common, invoke: createLocalInvoke(metrics, log) });
    doors.push(await openControlSocketIfRoom(local, socketPath, log));
  }
  const url = `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${server.port}`;
  directory.announce(url);
  log.info({ url, ...(planes.has('control') ? { docs: `${url}/docs` } : {}) }, 'listening');
  return async () => {
    await Promise.all(doors.map((close) => close()));
  };
}

/** The service works without its control socket: a full disk must not keep it from answering reads. */
async function openControlSocketIfRoom(app: Koa, path: string, log: Logger): Promise<() => Promise<void>> {
  try {
    return await openControlSocket(app, path);
  } catch (error) {
    if (!isDiskFull(error)) throw error;
    log.warn({ reason: String(error) }, 'the disk is full: there is no control socket for command-line tools');
    return async () => undefined;
  }
}

function requestsStopMilliseconds({ stopMilliseconds }: Config['limits']): number {
  return Math.max(stopMilliseconds - flushMilliseconds, Math.floor(stopMilliseconds / 2));
}

function planesOf(roles: ReadonlySet<Role>): ReadonlySet<Plane> {
  const planes = new Set<Plane>();
  if (roles.has('control-plane')) planes.add('control');
  if (roles.has('gateway')) planes.add('gateway');
  return planes;
}
