import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { endWithRun } from '#test/support/run/end-with-run.ts';
import { freePort } from '#test/support/run/free-port.ts';
import { skipSuite } from '#test/support/run/skipped-suites.ts';
import { poll } from './service-process.ts';

/** The timeout of a test, which may start nodes and a proxy. */
const suiteTestMs = 180_000;

const startTimeoutMs = 30_000;
const configuration = resolve(import.meta.dirname, '../../../deployment/Caddyfile');

/** The program that `.ci/caddy` installs, or the one that `CADDY` names. */
const program =
  process.env.CADDY ||
  join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'switchyard', 'caddy', 'usr', 'bin', 'caddy');

/** Describes a suite that needs the proxy. The suite is skipped when the program is missing. */
export function describeBehindProxy(suite: string, define: () => void): void {
  if (existsSync(program))
    describe(suite, function () {
      this.timeout(suiteTestMs);
      define();
    });
  else skipSuite(suite, 'run .ci/caddy or set CADDY');
}

/** The addresses (`host:port`) of the nodes behind a proxy. */
export interface Nodes {
  readonly controlPlanes: ReadonlyArray<string>;
  readonly gateways: ReadonlyArray<string>;
}

/** A Caddy with the deployed configuration. */
export interface RunningProxy {
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts a proxy and waits for any answer. @throws Error with the proxy's output, when it does not answer in time */
export async function startProxy({ controlPlanes, gateways }: Nodes): Promise<RunningProxy> {
  const port = await freePort();
  const child = spawn(program, ['run', '--config', configuration, '--adapter', 'caddyfile'], {
    env: {
      PORT: String(port),
      CONTROL_PLANES: controlPlanes.join(' '),
      GATEWAYS: gateways.join(' '),
      XDG_CONFIG_HOME: tmpdir(),
      XDG_DATA_HOME: tmpdir(),
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  endWithRun(child);
  let output = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const url = `http://127.0.0.1:${port}`;
  const answers = await poll(
    async () => child.exitCode === null && (await isAnswered(`${url}/metrics`)),
    startTimeoutMs,
  );
  if (answers === null) {
    await end(child);
    throw new Error(`The proxy does not answer: ${output}`);
  }
  return { url, stop: () => end(child) };
}

async function isAnswered(url: string): Promise<boolean> {
  try {
    await (await fetch(url)).arrayBuffer();
    return true;
  } catch {
    return false;
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}
