import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { compileCache } from '#test/support/run/compile-cache.ts';
import { endWithRun } from '#test/support/run/end-with-run.ts';
import { freezeProcess } from '#test/support/run/freeze-process.ts';

/** Variables of a process by name; undefined removes one. */
export type ProcessEnvironment = Readonly<Record<string, string | undefined>>;

/** How a process ended. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** The program to run. */
export interface Program {
  readonly file: string;
  /** The flags of Node, before the file. */
  readonly flags?: ReadonlyArray<string>;
  readonly args?: ReadonlyArray<string>;
  readonly environment: ProcessEnvironment;
  /** Its working directory; default: that of the tests. */
  readonly folder?: string;
  /** The signal when the test run is stopped: SIGKILL, unless the program must end child processes. */
  readonly lastSignal?: NodeJS.Signals;
}

/** A Node program in another process, with its output. */
export class WatchedProcess {
  /** Resolves when the program has ended and all of its output has arrived. */
  readonly ended: Promise<Exit>;
  readonly #child: ChildProcess;
  #stdout = '';
  #stderr = '';

  constructor({ file, flags = [], args = [], environment, folder, lastSignal = 'SIGKILL' }: Program) {
    this.#child = spawn(process.execPath, [...flags, file, ...args], {
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

  /** Its standard output so far. */
  get stdout(): string {
    return this.#stdout;
  }

  /** Its standard error so far. */
  get stderr(): string {
    return this.#stderr;
  }

  /** Whether the program has ended, even if some of its output has not arrived yet. */
  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /** Stops it and returns once it has stopped; `SIGCONT` continues it. */
  freeze(): void {
    freezeProcess(this.#child);
  }

  /** Lets this process end while the program runs. */
  unref(): void {
    this.#child.unref();
    for (const output of [this.#child.stdout, this.#child.stderr]) (output as Socket | null)?.unref();
  }

  send(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }
}
