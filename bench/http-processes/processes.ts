import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort } from '#test/support/free-port.ts';
import type { BareAnswer } from './bare-server.ts';
import type { Load, LoadResult } from './load.ts';

export const adminKey = `sy_live_${'Bench'.repeat(8)}`;

const readyMilliseconds = 300_000;

/** A process that answers HTTP. */
export interface Server {
  readonly url: string;
  readonly pid: number | undefined;
  /** From the start of its process until it was ready. */
  readonly startMilliseconds: number;
  readonly stop: () => Promise<void>;
}

/** The real service, as `npm start` runs it, on a data directory. Its log goes nowhere, but is written. */
export async function startService(dataDirectory: string): Promise<Server> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const started = performance.now();
  const child = spawn(process.execPath, [join(import.meta.dirname, '../../src/main.ts')], {
    env: { ...process.env, PORT: String(port), DATA_DIR: dataDirectory, BOOTSTRAP_API_KEY: adminKey },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  while (!(await isReady(url))) {
    if (child.exitCode !== null || performance.now() - started > readyMilliseconds) throw new Error('Not ready');
    await sleep(5);
  }
  return { url, pid: child.pid, startMilliseconds: performance.now() - started, stop: () => stop(child) };
}

/** Bare node:http that answers the same bytes. */
export async function startBareServer(answer: BareAnswer): Promise<Server> {
  const started = performance.now();
  const child = spawn(process.execPath, [join(import.meta.dirname, 'bare-server.ts'), JSON.stringify(answer)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [port] = (await once(child.stdout, 'data')) as [Buffer];
  return {
    url: `http://127.0.0.1:${port.toString()}`,
    pid: child.pid,
    startMilliseconds: performance.now() - started,
    stop: () => stop(child),
  };
}

/**
 * Sends a load from a process of its own.
 * @throws Error when a request was not answered with success
 */
export async function sendLoad(load: Load): Promise<LoadResult> {
  const script = join(import.meta.dirname, 'load.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [script, JSON.stringify(load)]);
  const result = JSON.parse(stdout) as LoadResult;
  if (result.failed > 0) throw new Error(`${result.failed} requests to ${load.url} failed`);
  return result;
}

/** Calls the service. @throws Error on anything but success */
export async function call(server: Server, method: string, path: string, body?: object): Promise<Response> {
  const answer = await fetch(server.url + path, {
    method,
    headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  return answer;
}

async function isReady(url: string): Promise<boolean> {
  return fetch(`${url}/readyz`).then(
    async (answer) => {
      await answer.arrayBuffer();
      return answer.ok;
    },
    () => false,
  );
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}
