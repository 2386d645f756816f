import { existsSync } from 'node:fs';
import { Client } from 'undici';
import { type Config, readConfig } from '#app/config.ts';
import { controlSocketPath } from '#app/control-socket.ts';
import { runningOwner } from '#app/data-directory.ts';
import { StartupError } from '#shared/errors/startup-error.ts';

export interface LocalServiceAnswer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: each tool knows the operation that it calls.
  readonly body: any;
  /** The `Switchyard-Position` of the answer; 0 without one. */
  readonly position: number;
}

/** The service that owns the data folder. */
export interface LocalService {
  readonly call: (method: 'GET' | 'POST', path: string, body?: object) => Promise<LocalServiceAnswer>;
  readonly close: () => Promise<void>;
}

const defaultTimeoutMs = 30_000;

/**
 * Opens the service on this machine for a command-line tool: the running one through its control socket, or else one
 * that the tool starts for itself.
 * @param timeoutMs the timeout of a call
 * @throws StartupError with one clear line
 */
export async function openLocalService(timeoutMs = defaultTimeoutMs): Promise<LocalService> {
  const config = readConfig(process.env);
  const path = controlSocketPath(config.dataDir);
  if (path === null) {
    throw new StartupError('DATA_DIR is too long a path for a control socket: use the API with an admin key instead.');
  }
  const closeOwn = runningOwner(config.dataDir) === null ? await startOwn(config, path) : async () => undefined;
  const client = new Client('http://localhost', {
    socketPath: path,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
  });
  return {
    call: (method, target, body) => call(client, method, target, body),
    close: async () => {
      await client.close();
      await closeOwn();
    },
  };
}

/** Loads the service only here, because a tool next to a running service needs little of the code. */
async function startOwn(config: Config, path: string): Promise<() => Promise<void>> {
  const { dataDir, eventStore } = config;
  // In a misspelt folder a start would create stores and a first key.
  if (eventStore.kind === 'sqlite' && !existsSync(dataDir))
    throw new StartupError(`DATA_DIR=${dataDir} is not there: name the folder of the service.`);
  const { startTemporaryService } = await import('./temporary-service.ts');
  return startTemporaryService(config, path);
}

async function call(client: Client, method: 'GET' | 'POST', path: string, body?: object): Promise<LocalServiceAnswer> {
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
