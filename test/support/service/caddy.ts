import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { endWithRun } from '#test/support/run/end-with-run.ts';
import { freePort } from '#test/support/run/free-port.ts';
import { leaveOut } from '#test/support/run/skipped-suites.ts';
import { until } from './service-process.ts';

/** A test may start nodes and a proxy. */
const suiteTestMs = 180_000;

const startLimitMilliseconds = 30_000;
const configuration = resolve(import.meta.dirname, '../../../deployment/Caddyfile');

/** Where `.ci/caddy` puts the program; `CADDY` names another. */
const program =
  process.env.CADDY ||
  join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'switchyard', 'caddy', 'usr', 'bin', 'caddy');

/** Describes a suite that needs the proxy; without its program it is left out. */
export function describeBehindProxy(suite: string, define: () => void): void {
  if (existsSync(program))
    describe(suite, function () {
      this.timeout(suiteTestMs);
      define();
    });
  else leaveOut(suite, 'run .ci/caddy or set CADDY');
}

/** The nodes that a proxy sends requests to, by `host:port`. */
export interface Nodes {
  readonly controlPlanes: ReadonlyArray<string>;
  readonly gateways: ReadonlyArray<string>;
}

/** A Caddy with the configuration that is deployed. */
export interface RunningProxy {
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts it and waits until it answers, whatever it answers. @throws Error with what it wrote, when it does not */
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
  const answers = await until(
    async () => child.exitCode === null && (await isAnswered(`${url}/metrics`)),
    startLimitMilliseconds,
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
