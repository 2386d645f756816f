import { resolve } from 'node:path';
import { poll } from './service-process.ts';
import { type Program, WatchedProcess } from './watched-process.ts';

/** The program that `npm run demo` runs. */
export const demoProgram = resolve(import.meta.dirname, '../../../examples/demo/demo.ts');

const outputTimeoutMs = 60_000;

/** The exit code and output of a demo. */
export interface DemoExit {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** `npm run demo` in a process of its own. */
export class DemoProcess {
  readonly #process: WatchedProcess;

  constructor(program: Omit<Program, 'file' | 'lastSignal'>) {
    // On SIGTERM the demo stops its service, too.
    this.#process = new WatchedProcess({ ...program, file: demoProgram, lastSignal: 'SIGTERM' });
  }

  /** Its standard output so far. */
  get stdout(): string {
    return this.#process.stdout;
  }

  /** Waits until it has printed a text. @throws Error with its output, when it does not */
  async printed(text: string): Promise<string> {
    await poll(async () => this.stdout.includes(text) || this.#process.hasEnded, outputTimeoutMs);
    if (this.stdout.includes(text)) return this.stdout;
    throw new Error(`the demo did not print "${text}": ${this.#process.stderr}${this.stdout}`);
  }

  /** Waits for its end. */
  async ended(): Promise<DemoExit> {
    const { code } = await this.#process.ended;
    return { code, stdout: this.stdout, stderr: this.#process.stderr };
  }

  /** Sends SIGTERM, and waits for its end. */
  stop(): Promise<DemoExit> {
    this.#process.send('SIGTERM');
    return this.ended();
  }
}

/** Reads the shell variables that a demo prints for its users. */
export function variablesIn(stdout: string): Readonly<Record<string, string>> {
  const lines = stdout.matchAll(/^ {2}([A-Z_0-9]+)=(\S+)$/gm);
  return Object.fromEntries([...lines].map(([, name = '', value = '']) => [name, value]));
}
