import { resolve } from 'node:path';
import { until } from './service-process.ts';
import { type Program, WatchedProcess } from './watched-process.ts';

/** The program that `npm run demo` runs. */
export const demoProgram = resolve(import.meta.dirname, '../../../examples/demo/demo.ts');

const sayMilliseconds = 60_000;

/** How a demo ended, and what it said. */
export interface DemoEnded {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** `npm run demo` in a process of its own. */
export class DemoProcess {
  readonly #process: WatchedProcess;

  constructor(program: Omit<Program, 'file' | 'lastSignal'>) {
    // Asked to stop, it takes its service along.
    this.#process = new WatchedProcess({ ...program, file: demoProgram, lastSignal: 'SIGTERM' });
  }

  /** What it wrote on standard output so far. */
  get stdout(): string {
    return this.#process.stdout;
  }

  /** Waits until it has written a text. @throws Error with what it wrote, when it does not */
  async said(text: string): Promise<string> {
    await until(async () => this.stdout.includes(text) || this.#process.hasEnded, sayMilliseconds);
    if (this.stdout.includes(text)) return this.stdout;
    throw new Error(`the demo did not say "${text}": ${this.#process.stderr}${this.stdout}`);
  }

  /** Waits for its end. */
  async ended(): Promise<DemoEnded> {
    const { code } = await this.#process.ended;
    return { code, stdout: this.stdout, stderr: this.#process.stderr };
  }

  /** Asks it to stop, and waits for its end. */
  stop(): Promise<DemoEnded> {
    this.#process.send('SIGTERM');
    return this.ended();
  }
}

/** The lines that set variables of a shell, which a demo prints to be pasted. */
export function variablesIn(stdout: string): Readonly<Record<string, string>> {
  const lines = stdout.matchAll(/^ {2}([A-Z_0-9]+)=(\S+)$/gm);
  return Object.fromEntries([...lines].map(([, name = '', value = '']) => [name, value]));
}
