import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { endWithRun } from '#test/support/run/end-with-run.ts';

/** Variables of a process by name; undefined for one that it is not given. */
export type ProcessEnvironment = Readonly<Record<string, string | undefined>>;

/** How a process ended. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** What is to run. */
export interface Program {
  readonly file: string;
  readonly words?: ReadonlyArray<string>;
  readonly environment: ProcessEnvironment;
  /** Where it runs, if not here. */
  readonly folder?: string;
  /** Ends it where the test run is stopped: SIGKILL unless it has processes of its own to end. */
  readonly lastSignal?: NodeJS.Signals;
}

/** Most of a start is compiling what an earlier start has compiled. `npm ci` empties it. */
export const compileCache = resolve(import.meta.dirname, '../../../node_modules/.cache/compiled');

/** A program of Node in a process of its own, with what it writes. */
export class WatchedProcess {
  /** Resolves when it has ended and all that it wrote has come. */
  readonly ended: Promise<Exit>;
  readonly #child: ChildProcess;
  #stdout = '';
  #stderr = '';

  constructor({ file, words = [], environment, folder, lastSignal = 'SIGKILL' }: Program) {
    this.#child = spawn(process.execPath, [file, ...words], {
      cwd: folder,
      env: {
        PATH: process.env.PATH,
        HOME: process.env.HOME,
        NODE_COMPILE_CACHE: compileCache,
        ...environment,
      } as NodeJS.ProcessEnv,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    endWithRun(this.#child, lastSignal);
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#stdout += text;
    });
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr += text;
    });
    this.ended = once(this.#child, 'close').then(([code, signal]) => ({ code, signal }));
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** What it wrote on standard output so far. */
  get stdout(): string {
    return this.#stdout;
  }

  /** What it wrote on standard error so far. */
  get stderr(): string {
    return this.#stderr;
  }

  /** Whether it has ended, even if not all that it wrote has come yet. */
  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  send(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }
}
