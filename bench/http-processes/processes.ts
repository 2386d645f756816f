import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type Checkout, here } from '#bench/beside/checkout.ts';
import { sharedEnvironment, startCommand } from '#bench/beside/node-command.ts';
import { installPackages } from '#bench/install-packages.ts';
import { freePort } from '#test/support/run/free-port.ts';
import { adminKey } from '#test/support/service/admin-key.ts';
import type { BareAnswer } from './bare-server.ts';
import type { Load, LoadResult } from './load.ts';

export { adminKey };

/** The limit of a start, so that a service that never becomes ready does not hang the benchmark. */
const readyWithinMs = 300_000;
const answerMs = 60_000;

/** A process that answers HTTP. */
export interface Server {
  readonly url: string;
  readonly pid: number;
  /** The time from the start of its process until it was ready. */
  readonly startMs: number;
  readonly stop: () => Promise<void>;
}

/** The service in a process of its own. */
export interface ServiceServer extends Server {
  /** Asks a module that was loaded into the service before it (`node --import`), and returns its answer. */
  readonly ask: (question: string) => Promise<unknown>;
}

/**
 * Starts the real service on a data directory, as `npm start` does. It writes its log, which is discarded.
 * @param environment further variables
 * @param checkout the version of the service
 * @param readyMs the limit of its start
 */
export async function startService(
  dataDirectory: string,
  environment: Readonly<Record<string, string>> = {},
  checkout: Checkout = here,
  readyMs: number = readyWithinMs,
): Promise<ServiceServer> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const started = performance.now();
  const { program, args } = startCommand(checkout);
  const variables = { PORT: String(port), DATA_DIR: dataDirectory, BOOTSTRAP_API_KEY: adminKey, ...environment };
  const child = spawn(program, args, {
    cwd: checkout.folder,
    env: { ...sharedEnvironment(), ...variables },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  await until(() => isReady(`${url}/readyz`), child, readyMs);
  return { ...serverOf(child, url, started), ask: (question) => ask(child, question) };
}

/** Starts a bare node:http server that answers the same bytes. */
export function startBareServer(answer: BareAnswer): Promise<Server> {
  return startPrintingPort(join(import.meta.dirname, 'bare-server.ts'), JSON.stringify(answer));
}

/** Starts a script that serves HTTP and prints its port. */
export async function startPrintingPort(script: string, ...args: ReadonlyArray<string>): Promise<Server> {
  const started = performance.now();
  const child = spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit').then(() => Promise.reject(new Error(`${script} ended before it served`)));
  const [port] = (await Promise.race([once(child.stdout, 'data'), ended])) as [Buffer];
  ended.catch(() => undefined);
  return serverOf(child, `http://127.0.0.1:${port.toString()}`, started);
}

/** Starts another program that serves HTTP, and waits until it answers. @param command with its arguments */
export async function startProgram(command: ReadonlyArray<string>, url: string): Promise<Server> {
  const started = performance.now();
  const [program = '', ...args] = command;
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  await once(child, 'spawn');
  await until(() => answers(url), child, readyWithinMs);
  return serverOf(child, url, started);
}

/**
 * Runs a script in a separate process. The script reads its input as JSON and prints its result as JSON.
 * @throws Error with its output when it fails
 */
export async function runScript<Outcome>(script: string, task: object): Promise<Outcome> {
  const running = promisify(execFile)(process.execPath, [script]);
  // An argument may have 128 KiB on Linux, which the paths of many flows exceed.
  running.child.stdin?.end(JSON.stringify(task));
  const { stdout } = await running;
  return JSON.parse(stdout) as Outcome;
}

/** It has packages of its own, which the service and its tests do not need. */
const generator = join(import.meta.dirname, '../load');

/**
 * Sends a load from a separate process.
 * @throws Error when a request was not answered with success
 */
export async function sendLoad(load: Load): Promise<LoadResult> {
  installPackages(generator, 'autocannon');
  const result = await runScript<LoadResult>(join(generator, 'send-load.ts'), load);
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

async function ask(child: ChildProcess, question: string): Promise<unknown> {
  const answer = once(child, 'message', { signal: AbortSignal.timeout(answerMs) });
  child.send(question);
  const [message] = (await answer) as [unknown];
  return message;
}

function serverOf(child: ChildProcess, url: string, started: number): Server {
  const { pid } = child;
  if (pid === undefined) throw new Error('The process did not start');
  return { url, pid, startMs: performance.now() - started, stop: () => stop(child) };
}

/** @throws Error, after it has ended the process, if the condition does not hold in time */
async function until(holds: () => Promise<boolean>, child: ChildProcess, readyMs: number): Promise<void> {
  const began = performance.now();
  while (!(await holds())) {
    const waitedMs = performance.now() - began;
    if (child.exitCode !== null || waitedMs > readyMs) {
      child.kill('SIGKILL');
      throw new Error(`Not ready: ${child.spawnargs.join(' ')}`);
    }
    await sleep(pollMs(waitedMs));
  }
}

/**
 * Returns the pause before the next check of a long task: short enough for a precision of 2 %, and long enough not to
 * slow the task.
 */
export function pollMs(waitedMs: number): number {
  return Math.max(5, waitedMs / 50);
}

async function isReady(url: string): Promise<boolean> {
  return (await statusOf(url)) === 200;
}

async function answers(url: string): Promise<boolean> {
  return (await statusOf(url)) !== null;
}

/** Returns null without an answer. */
async function statusOf(url: string): Promise<number | null> {
  return fetch(url).then(
    async (answer) => {
      await answer.arrayBuffer();
      return answer.status;
    },
    () => null,
  );
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}
