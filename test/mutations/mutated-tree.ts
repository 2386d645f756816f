import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import type { Checkout } from './checkout.ts';
import type { Report } from './first-failure-reporter.ts';

/** How a run of test files ended. `stopped`: at a limit. A failure without a title is one of loading. */
export interface TestRun extends Omit<Report, 'state'> {
  readonly state: 'passed' | 'failed' | 'stopped';
  readonly cpuSeconds: number;
  readonly seconds: number;
}

const reporter = join(import.meta.dirname, 'first-failure-reporter.ts');
/** For the tests that set no limit of their own: the machine may be busy. */
const testTimeoutMs = 30_000;
const maxSeconds = 240;
const maxHeapMb = 1_500;
const nodeModules = ['node_modules', 'test/clients/node_modules'];

const nothing: Report = { state: 'running', file: null, title: null, message: null };
/** Limits the processor time, because a loop without an end must not depend on how busy the machine is; prints what was used. */
const script = '(ulimit -t "$0"; exec "$@") >/dev/null 2>&1; code=$?; times; exit $code';
/** The exit codes of a shell from here on are signals that ended its program. */
const signalled = 128;

/** A copy of a checkout in a temporary folder, in which one file at a time is changed. It links the packages. */
export class MutatedTree {
  readonly #copy = mkdtempSync(join(tmpdir(), 'mutations-'));
  readonly #checkout: Checkout;
  readonly #temporary = join(this.#copy, '.temporary');
  #child: ChildProcess | null = null;

  constructor(checkout: Checkout) {
    this.#checkout = checkout;
    process.once('exit', () => this.#dispose());
    for (const file of checkout.files) {
      mkdirSync(dirname(join(this.#copy, file)), { recursive: true });
      cpSync(join(checkout.folder, file), join(this.#copy, file), { verbatimSymlinks: true });
    }
    for (const folder of nodeModules)
      if (existsSync(join(checkout.folder, folder)))
        symlinkSync(join(checkout.folder, folder), join(this.#copy, folder));
  }

  /** Runs test files in one process while a file has another text. */
  async runMutated(file: string, text: string, tests: ReadonlyArray<string>, cpuSeconds: number): Promise<TestRun> {
    writeFileSync(join(this.#copy, file), text);
    try {
      return await this.run(tests, cpuSeconds);
    } finally {
      cpSync(join(this.#checkout.folder, file), join(this.#copy, file));
    }
  }

  /** Runs test files in one process, until the first test fails. */
  async run(tests: ReadonlyArray<string>, cpuSeconds: number): Promise<TestRun> {
    rmSync(this.#temporary, { recursive: true, force: true });
    mkdirSync(this.#temporary);
    const report = join(this.#copy, '.report.json');
    rmSync(report, { force: true });
    const began = performance.now();
    const { hasEnded, used = cpuSeconds } = await this.#runMocha(tests, Math.ceil(cpuSeconds), report);
    const seconds = (performance.now() - began) / 1000;
    const last: Report = existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')) : nothing;
    const state = last.state !== 'running' ? last.state : hasEnded ? 'failed' : 'stopped';
    return { ...last, state, file: last.file && relative(this.#copy, last.file), seconds, cpuSeconds: used };
  }

  /** @returns whether it has ended by itself, and the processor time of all its processes if it is known */
  async #runMocha(tests: ReadonlyArray<string>, cpuSeconds: number, report: string) {
    const mocha = ['node_modules/mocha/bin/mocha.js', '--no-parallel', '--bail', '--reporter', reporter];
    const selection = ['--timeout', String(testTimeoutMs), '--grep', '@long', '--invert', ...tests];
    const node = [process.execPath, `--max-old-space-size=${maxHeapMb}`, ...mocha, ...selection];
    const child = spawn('sh', ['-c', script, String(cpuSeconds), ...node], {
      cwd: this.#copy,
      detached: true,
      stdio: ['ignore', 'pipe', 'ignore'],
      env: {
        PATH: process.env.PATH,
        HOME: process.env.HOME,
        TMPDIR: this.#temporary,
        MUTATION_REPORT: report,
        NODE_COMPILE_CACHE: join(this.#copy, '.compiled'),
      },
    });
    this.#child = child;
    const limit = setTimeout(() => this.#kill(), maxSeconds * 1000);
    let times = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      times += text;
    });
    const [code] = await once(child, 'close');
    clearTimeout(limit);
    this.#kill();
    this.#child = null;
    return { hasEnded: code !== null && code < signalled, used: cpuSecondsOf(times) };
  }

  /** Ends the tests with the processes that they have started. */
  #kill(): void {
    if (this.#child?.pid === undefined) return;
    try {
      process.kill(-this.#child.pid, 'SIGKILL');
    } catch {
      // All have ended.
    }
  }

  #dispose(): void {
    this.#kill();
    rmSync(this.#copy, { recursive: true, force: true });
  }
}

/** The time of a shell's children, the second line of `times`: `0m1.250s 0m0.310s`. */
function cpuSecondsOf(times: string): number | undefined {
  const [, children] = times.trim().split('\n');
  const parts = [...(children ?? '').matchAll(/(\d+)m([\d.]+)s/g)];
  if (parts.length === 0) return undefined;
  return parts.reduce((sum, [, minutes, seconds]) => sum + Number(minutes) * 60 + Number(seconds), 0);
}
