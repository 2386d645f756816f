import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, relative, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Config, readConfig } from '#app/config.ts';
import { announcedOwner, runningOwner } from '#app/data-directory.ts';
import { DemoError } from './demo-error.ts';

const main = join(import.meta.dirname, '../../src/main.ts');
const usualFolder = 'demo-data';
const startMs = 60_000;
const pollIntervalMs = 20;

/** A service in a separate process, on its own folder. */
export interface SpawnedService {
  readonly url: string;
  readonly process: ChildProcess;
  /** Stops the service and waits for its end. May be called again. */
  readonly stop: () => Promise<void>;
  /** The exit code; null after a signal. */
  readonly ended: Promise<number | null>;
}

export interface DemoFolder {
  readonly path: string;
  /** The path as users write it on a command line. */
  readonly typed: string;
}

/** DATA_DIR if it is set, else the demo's default. @throws DemoError when it is not empty */
export function chooseFolder(environment: NodeJS.ProcessEnv): DemoFolder {
  const path = resolve(environment.DATA_DIR?.trim() || usualFolder);
  const typed = asTyped(path);
  refuseFilled(path, typed);
  return { path, typed };
}

/** True also if the folder does not exist. @throws DemoError when it cannot be read */
export function isEmpty(path: string): boolean {
  try {
    return readdirSync(path).length === 0;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return true;
    throw new DemoError(`${path} cannot be used as a folder. Name another with DATA_DIR.`, { cause: error });
  }
}

export interface SpawnedServiceOptions {
  /** The environment of this process. Its URLs of stores are ignored, because the demo uses embedded stores. */
  readonly environment: NodeJS.ProcessEnv;
  /** Variables that count more than those of this process. */
  readonly variables: Readonly<Record<string, string>>;
  /** Stops it while it starts. */
  readonly signal: AbortSignal;
  /** A module that is loaded before Switchyard. It can be sent messages. */
  readonly preload?: string;
}

/** Starts a service with embedded stores. @throws DemoError when it does not start */
export async function spawnService(options: SpawnedServiceOptions): Promise<SpawnedService> {
  const { environment, variables, signal, preload } = options;
  const serviceEnvironment: NodeJS.ProcessEnv = {
    ...environment,
    ...embedded,
    // A warning would hide the demo's own output.
    LOG_LEVEL: environment.LOG_LEVEL || 'error',
    ...variables,
  };
  const config = readConfig(serviceEnvironment);
  const port = serviceEnvironment.PORT || String(await portFor(config));
  const child = spawn(process.execPath, [...(preload === undefined ? [] : ['--import', preload]), main], {
    env: { ...serviceEnvironment, PORT: port },
    stdio: ['ignore', 'inherit', 'inherit', preload === undefined ? 'ignore' : 'ipc'],
  });
  const ended = once(child, 'close').then(([code]) => code as number | null);
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
  };
  try {
    return { url: await readyUrl(child, config.dataDir, signal), process: child, stop, ended };
  } catch (error) {
    await stop();
    throw error;
  }
}

const embedded = { EVENT_STORE_URL: '', READ_STORE_URL: '', BLOB_STORE_URL: '', ROLES: '' };

/** Shows the path as users write it on a command line. */
function asTyped(path: string): string {
  const fromHere = relative('', path);
  const short = fromHere === '' ? '.' : fromHere;
  const shorter = short.startsWith('..') ? path : short;
  return /^[\w./@%+:-]+$/.test(shorter) ? shorter : `'${shorter.replaceAll("'", "'\\''")}'`;
}

/** A demo never starts on existing data. The message suggests deletion only for the demo's own folder. */
function refuseFilled(path: string, folder: string): void {
  if (isEmpty(path)) return;
  const isOfDemo = path === resolve(usualFolder);
  const nextStep = isOfDemo ? `delete it (rm -r ${folder}) and run this again` : 'name an empty folder with DATA_DIR';
  const owner = runningOwner(path);
  if (owner !== null) {
    const at = owner.url === undefined ? '' : ` at ${owner.url}`;
    const stopped = isOfDemo ? 'stop that, ' : '';
    throw new DemoError(`${folder} holds data, and a service runs on it${at}. For a new demo ${stopped}${nextStep}.`);
  }
  throw new DemoError(
    `${folder} holds something already, and a demo is not mixed with it. For a new demo ${nextStep}; to look at what ` +
      `is there: DATA_DIR=${folder} npm start.`,
  );
}

/** Finds the usual port, or any free one while that is in use, because a demo may run next to a service. */
async function portFor({ host, port }: Config): Promise<number> {
  const server = createServer();
  try {
    await once(server.listen(port, host), 'listening');
    return port;
  } catch {
    return 0;
  } finally {
    server.close();
  }
}

/** Resolves once the service is ready. */
async function readyUrl(child: ChildProcess, dataDir: string, signal: AbortSignal): Promise<string> {
  const deadline = performance.now() + startMs;
  while (performance.now() < deadline) {
    if (signal.aborted) throw new DemoError('Stopped while the service started.');
    // The service has printed the reason itself.
    if (child.exitCode !== null || child.signalCode !== null) throw new DemoError('The service did not start.');
    const owner = announcedOwner(dataDir);
    if (owner?.url !== undefined && owner.pid === child.pid && (await isReady(owner.url))) return owner.url;
    await sleep(pollIntervalMs);
  }
  throw new DemoError(`The service was not ready within ${startMs / 1000} s.`);
}

async function isReady(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(5_000) })).ok;
  } catch {
    return false;
  }
}
