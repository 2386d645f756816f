import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import type { ServiceEnvironment } from '#test/support/service-process.ts';

/** The program that `npm run demo` runs. */
export const demoProgram = resolve(import.meta.dirname, '../../src/command-line/demo.ts');

/** How a demo ended, and what it said. */
export interface DemoEnded {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const running = new Set<ChildProcess>();
// A test run that is stopped leaves no process behind: asked to stop, a demo takes its service along.
process.once('exit', () => {
  for (const child of running) child.kill('SIGTERM');
});

/** `npm run demo` in a process of its own. */
export class DemoProcess {
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  #stdout = '';
  #stderr = '';

  /** @param words of the command line */
  constructor(environment: ServiceEnvironment, ...words: ReadonlyArray<string>) {
    this.#child = spawn(process.execPath, [demoProgram, ...words], {
      env: { PATH: process.env.PATH, HOME: process.env.HOME, ...environment } as NodeJS.ProcessEnv,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    running.add(this.#child);
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#stdout += text;
    });
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr += text;
    });
    this.#ended = once(this.#child, 'close').then(() => {
      running.delete(this.#child);
    });
  }

  /** What it wrote on standard output so far. */
  get stdout(): string {
    return this.#stdout;
  }

  /** Waits until it has written a text. @throws Error with what it wrote, when it ends instead */
  async said(text: string): Promise<string> {
    while (!this.#stdout.includes(text)) {
      const more = once(this.#child.stdout ?? this.#child, 'data').then(() => true);
      if ((await Promise.race([more, this.#ended.then(() => false)])) === false && !this.#stdout.includes(text)) {
        throw new Error(`the demo ended without saying "${text}": ${this.#stderr}${this.#stdout}`);
      }
    }
    return this.#stdout;
  }

  /** Waits for its end. */
  async ended(): Promise<DemoEnded> {
    await this.#ended;
    return { code: this.#child.exitCode, stdout: this.#stdout, stderr: this.#stderr };
  }

  /** Asks it to stop, and waits for its end. */
  stop(): Promise<DemoEnded> {
    this.#child.kill('SIGTERM');
    return this.ended();
  }
}

/** The lines that set variables of a shell, which a demo prints to be pasted. */
export function variablesIn(stdout: string): Readonly<Record<string, string>> {
  const lines = stdout.matchAll(/^ {2}([A-Z_0-9]+)=(\S+)$/gm);
  return Object.fromEntries([...lines].map(([, name = '', value = '']) => [name, value]));
}
