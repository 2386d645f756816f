import { setTimeout as sleep } from 'node:timers/promises';
import type Koa from 'koa';
import type { Logger as PinoLogger } from 'pino';
import type { LogChange } from '#event-store/log-doubts.ts';
import { createChangedLogApp, logChange } from './app/changed-log.ts';
import { type ComposeOptions, compose, type Service } from './app/compose.ts';
import { type Config, readConfig } from './app/config.ts';
import { controlSocketPath, openControlSocket } from './app/control-socket.ts';
import { openDataDirectory } from './app/data-directory.ts';
import { keepNewFilesPrivate } from './app/files/private-files.ts';
import { readProductVersion } from './app/product-version.ts';
import { bind, type Servers, type Serving, serve } from './app/serve.ts';
import { asksForHelp, usage } from './app/startup/arguments.ts';
import { printAdminKey } from './app/startup/first-start.ts';
import { openPatiently } from './app/startup/open-patiently.ts';
import { findMisspelt, type MisspeltVariable, recordReads } from './app/startup/variable-names.ts';
import { StartupError } from './shared/errors/startup-error.ts';
import { createLog } from './shared/logging/pino-logger.ts';
import { keepBoundForMainThread, MainThreadHeap } from './shared/memory/main-thread-heap.ts';

/** The part of the time to stop that is kept for the last line. */
const exitMs = 100;

/** How long a service that is opened again waits for running requests, and the interval of its checks. */
const drainMs = 2_000;
const drainPollMs = 25;

keepNewFilesPrivate();
// Comes before the first thread.
keepBoundForMainThread();
try {
  if (asksForHelp(process.argv.slice(2))) {
    process.stdout.write(usage);
    process.exit(0);
  }
  const known = new Set<string>();
  await start(readConfig(recordReads(process.env, known)), findMisspelt(process.env, known));
} catch (error) {
  if (!(error instanceof StartupError)) throw error;
  process.stderr.write(`switchyard: ${error.message}\n`);
  // An open listener would keep the process alive.
  process.exit(1);
}

async function start(config: Config, misspelt: ReadonlyArray<MisspeltVariable>): Promise<void> {
  const log = await createLog(config.logLevel);
  for (const found of misspelt) log.logger.warn(found, 'a variable is not read: it resembles one of Switchyard');
  let stopping = false;
  let closeAll: (until: number) => Promise<void> = async () => undefined;
  const stopOnce = (exitCode: number) => {
    if (stopping) return;
    stopping = true;
    const { stopTimeoutMs } = config.limits;
    setTimeout(() => {
      log.logger.error({}, 'The time to stop is over before everything has ended: the process ends');
      process.exit(exitCode);
    }, stopTimeoutMs).unref();
    void closeAll(performance.now() + stopTimeoutMs).then(
      () => process.exit(exitCode),
      () => process.exit(1),
    );
  };
  const onFatal = (error: Error) => {
    log.logger.fatal({ err: error }, 'An embedded store takes no more changes: this process ends');
    stopOnce(1);
  };
  const onOutOfMemory = ({ message }: Error) => {
    log.logger.fatal(message);
    // Running requests would take the rest of the heap before an orderly stop is over. What was acknowledged is on disk.
    process.exit(1);
  };
  new MainThreadHeap({ onFull: onOutOfMemory });
  // Needed from here on: without a handler, a signal does not end the first process of a container.
  process.on('SIGTERM', () => stopOnce(0));
  process.on('SIGINT', () => stopOnce(0));
  // Comes first: a first start whose port is in use must not make a key.
  const servers = await bind(config);
  let opening: Promise<Node>;
  const openNode = () => {
    opening = open(config, servers, { log: log.logger, printAdminKey, onFatal });
    return opening;
  };
  let node = await openNode().catch((error: unknown) => {
    log.close();
    throw error;
  });
  // Without a file there is nothing to reload, and a closed terminal must end the process.
  if (config.gatewayConfig !== null) process.on('SIGHUP', () => void node.service.reloadGateway());
  let releaseHeld: () => Promise<void> = async () => undefined;
  closeAll = async (until) => {
    // A service that is being opened has to be closed too, or its locks and leases stay.
    const last = await opening.catch(() => node);
    last.service.endFeeds();
    await Promise.all([last.endServing(), servers.api.stop(), servers.metrics?.stop()]);
    const left = await last.close(until - performance.now() - exitMs);
    await releaseHeld();
    if (left.length === 0) log.logger.info('stopped');
    else log.logger.error({ left }, 'stopped, but what is named has not ended and is left');
    log.close();
  };
  // Each time the log has changed, the service is opened again on what the log has now.
  for (;;) {
    const change = await node.logChanged;
    if (stopping) return;
    const refusal = createChangedLogApp(change, readProductVersion());
    const refuse = () => servers.api.serve(refusal);
    refuse();
    await logChange(change, node.service.documents, log.logger);
    const left = await closeNode(node);
    if (stopping) return;
    // What is left still uses the stores, so only a new process may open them again.
    if (left.length > 0) return stopOnce(1);
    if (change.common === null) {
      releaseHeld = holdDirectory(config.dataDir, refusal, log.logger);
      return;
    }
    const reopened = await openPatiently(openNode, {
      isStopping: () => stopping,
      // The app of a service that was closed again may answer now.
      onFailed: refuse,
      log: log.logger,
    });
    if (reopened === null) return;
    node = reopened;
  }
}

interface Node extends Serving {
  readonly service: Service;
  /** Resolves if the log no longer has what was read of it. */
  readonly logChanged: Promise<LogChange>;
  /**
   * Closes the service, and returns the names of what has not ended. Each call waits for the end of the first one: a stop
   * may come while the service is closed to be opened again.
   */
  readonly close: Service['close'];
}

/** @throws StartupError */
async function open(
  config: Config,
  servers: Servers,
  options: ComposeOptions & { readonly log: PinoLogger },
): Promise<Node> {
  const changed = Promise.withResolvers<LogChange>();
  const service = await compose(config, { ...options, onLogChanged: changed.resolve });
  let closing: Promise<ReadonlyArray<string>> | null = null;
  const close: Node['close'] = (limitMs) => {
    closing ??= service.close(limitMs);
    return closing;
  };
  try {
    return { service, logChanged: changed.promise, close, ...(await serve(config, service, servers, options.log)) };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Waits for running requests, but not for long ones. @returns the names of what has not ended */
async function closeNode({ service, running, endServing, close }: Node): Promise<ReadonlyArray<string>> {
  service.endFeeds();
  await endServing();
  for (const until = Date.now() + drainMs; running.count > 0 && Date.now() < until; ) await sleep(drainPollMs);
  return close();
}

/**
 * Keeps the data directory of a closed service, and refuses what command-line tools ask for: without an owner of the
 * directory, a tool would open a service of its own on the wrong log.
 * @returns releases it
 */
function holdDirectory(dataDir: string, refusal: Koa, log: PinoLogger): () => Promise<void> {
  const openNothing = (error: unknown) => {
    log.error({ err: error }, 'Command-line tools are not refused here: start none until the right log is back');
    return async () => undefined;
  };
  try {
    const directory = openDataDirectory(dataDir);
    const path = controlSocketPath(dataDir);
    const socket = path === null ? null : openControlSocket(async () => refusal, path).catch(openNothing);
    return async () => {
      await (await socket)?.();
      directory.release();
    };
  } catch (error) {
    return openNothing(error);
  }
}
