import { Client } from 'undici';
import { compose } from '#app/compose.ts';
import { type Config, readConfig } from '#app/config.ts';
import { controlSocketPath, createLocalInvoke, openControlSocket } from '#app/control-socket.ts';
import { runningOwner } from '#app/data-directory.ts';
import { printAdminKey } from '#app/startup/print-admin-key.ts';
import { createApp } from '#http/server/app.ts';
import { StartupError } from '#shared/errors/startup-error.ts';
import { createLog } from '#shared/logging/logger.ts';
import packageJson from '../../package.json' with { type: 'json' };

/** What a tool gets back. */
export interface LocalAnswer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: each tool knows the operation that it calls.
  readonly body: any;
  /** `Switchyard-Position`; 0 without one. */
  readonly position: number;
}

/** Calls operations of the service that owns the data folder. */
export interface LocalService {
  readonly call: (method: 'GET' | 'POST', path: string, body?: object) => Promise<LocalAnswer>;
  readonly close: () => Promise<void>;
}

const callMilliseconds = 30_000;

/**
 * The service on this machine, for a command-line tool: the running one by its control socket, else one of the tool's
 * own for as long as it runs.
 * @throws StartupError with one clear line
 */
export async function openLocalService(): Promise<LocalService> {
  const config = readConfig(process.env);
  const path = controlSocketPath(config.dataDir);
  if (path === null) {
    throw new StartupError('DATA_DIR is too long a path for a control socket: use the API with an admin key instead.');
  }
  const closeOwn = runningOwner(config.dataDir) === null ? await startOwn(config, path) : async () => undefined;
  const client = new Client('http://localhost', {
    socketPath: path,
    headersTimeout: callMilliseconds,
    bodyTimeout: callMilliseconds,
  });
  return {
    call: (method, target, body) => call(client, method, target, body),
    close: async () => {
      await client.close();
      await closeOwn();
    },
  };
}

async function startOwn(config: Config, path: string): Promise<() => Promise<void>> {
  const log = createLog('error');
  const service = await compose(config, {
    log: log.logger,
    printAdminKey,
    onFatal: (error) => log.logger.fatal({ err: error }, 'The event store takes no more changes'),
  });
  const { operations, readiness, metrics, bodies } = service;
  const { version } = packageJson;
  const options = {
    operations,
    readiness,
    version,
    metrics,
    bodies,
    log: log.logger,
    limits: config.limits,
    invoke: createLocalInvoke(metrics, log.logger),
  };
  const closeSocket = await openControlSocket(createApp(options), path);
  return async () => {
    await closeSocket();
    await service.close();
    log.close();
  };
}

async function call(client: Client, method: 'GET' | 'POST', path: string, body?: object): Promise<LocalAnswer> {
  const answer = await client.request({
    method,
    path,
    headers: { authorization: 'Bearer local', 'content-type': 'application/json' },
    ...(method === 'GET' ? {} : { body: JSON.stringify(body ?? {}) }),
  });
  return {
    status: answer.statusCode,
    body: await answer.body.json(),
    position: Number(answer.headers['switchyard-position'] ?? 0),
  };
}
