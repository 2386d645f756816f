import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, relative, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Config, readConfig } from '#app/config.ts';
import { announcedOwner, runningOwner } from '#app/data-directory.ts';
import { generateKey } from '#application/commands/new-values.ts';
import { DemoError } from './demo-error.ts';

const main = join(import.meta.dirname, '../../src/main.ts');
const usualFolder = 'demo-data';
const startMs = 60_000;
const pollIntervalMs = 20;

/** A Switchyard in a separate process, on its own folder. */
export interface OwnService {
  readonly url: string;
  readonly adminKey: string;
  /** The path as users write it on a command line. */
  readonly folder: string;
  /** Sends SIGTERM, and waits for the end. May be called again. */
  readonly stop: () => Promise<void>;
  /** Resolves with the exit code; null after a signal. */
  readonly ended: Promise<number | null>;
}

/**
 * Starts Switchyard on an empty folder: DATA_DIR if it is set, else the demo's default.
 * @param environment of this process. Its URLs of stores are ignored, because the demo uses embedded stores.
 * @param signal stops it while it starts
 * @throws DemoError when the folder is not empty, or the service does not start
 */
export async function startOwnService(environment: NodeJS.ProcessEnv, signal: AbortSignal): Promise<OwnService> {
  const adminKey = generateKey();
  const embedded = { EVENT_STORE_URL: '', READ_STORE_URL: '', BLOB_STORE_URL: '', ROLES: '' };
  const serviceEnvironment: NodeJS.ProcessEnv = {
    ...environment,
    ...embedded,
    DATA_DIR: environment.DATA_DIR?.trim() || usualFolder,
    // A demo needs no signing key, and a warning about it would hide the demo's own output.
    LOG_LEVEL: environment.LOG_LEVEL || 'error',
    BOOTSTRAP_API_KEY: adminKey,
  };
  const config = readConfig(serviceEnvironment);
  const folder = asTyped(config.dataDir);
  refuseFilled(config.dataDir, folder);
  const port = environment.PORT || String(await portFor(config));
  const child = spawn(process.execPath, [main], {
    env: { ...serviceEnvironment, PORT: port },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const ended = once(child, 'close').then(([code]) => code as number | null);
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
  };
  try {
    return { url: await readyUrl(child, config.dataDir, signal), adminKey, folder, stop, ended };
  } catch (error) {
    await stop();
    if (!(error instanceof DemoError) || isEmpty(config.dataDir)) throw error;
    throw new DemoError(`${error.message} Delete the folder before the next try: rm -r ${folder}`, { cause: error });
  }
}

/** Returns a path as users write it on a command line. */
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

function isEmpty(path: string): boolean {
  try {
    return readdirSync(path).length === 0;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return true;
    throw new DemoError(`${path} cannot be used as a folder. Name another with DATA_DIR.`, { cause: error });
  }
}

/** Returns the usual port, or any free one while that is in use, because a demo may run next to a service. */
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

/** Resolves with the address of the service once it is ready. */
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
