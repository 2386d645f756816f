import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Outcome } from './attempt.ts';

/** What became of a change. `gone`: the code has no such place. */
export type Result = { readonly id: number; readonly file: string; readonly operator: string } & (
  | (Outcome & { readonly changedFile: string; readonly seconds: number })
  | { readonly state: 'gone' }
);

/** The results of a run by their numbers, in a file that a later run continues. */
export class Results {
  readonly #file: string;
  readonly #byId: Map<number, Result>;

  constructor(file: string) {
    this.#file = file;
    const stored: ReadonlyArray<Result> = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : [];
    this.#byId = new Map(stored.map((result) => [result.id, result]));
  }

  get all(): ReadonlyArray<Result> {
    return [...this.#byId.values()].sort((one, other) => one.id - other.id);
  }

  get(id: number): Result | undefined {
    return this.#byId.get(id);
  }

  add(result: Result): void {
    this.#byId.set(result.id, result);
    mkdirSync(dirname(this.#file), { recursive: true });
    writeFileSync(`${this.#file}.new`, `${JSON.stringify(this.all, null, 2)}\n`);
    renameSync(`${this.#file}.new`, this.#file);
  }
}

/** `4 found by test/commands/project/create-project.test.ts: change a number in commands/project/create-project.ts (2 s)` */
export function lineOf(result: Result): string {
  const { id, state, file, operator } = result;
  const by = 'by' in result ? ` by ${result.by}` : '';
  const seconds = 'seconds' in result ? ` (${Math.round(result.seconds)} s)` : '';
  return `${id} ${state}${by}: ${operator} in ${file}${seconds}`;
}
