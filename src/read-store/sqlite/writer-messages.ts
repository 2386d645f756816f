import type { RowStore } from './row-commits.ts';

/** The calls that the writer thread accepts. */
export type WriterCall = Exclude<keyof RowStore, 'filling'>;

/** A message to the writer thread. The thread executes them in order. */
export interface ToWriter {
  readonly request: number;
  readonly call: WriterCall;
  readonly parameters: ReadonlyArray<unknown>;
  /** Whether no caller waits for it. If such a call fails, all later calls are refused. */
  readonly postponed: boolean;
}

/** Why a call failed. */
export interface WriterFailure {
  readonly kind: 'unavailable' | 'damaged' | 'other';
  readonly message: string;
}

/** A message from the writer thread. */
export type FromWriter =
  /** The file is open. */
  | { readonly kind: 'opened' }
  | {
      readonly kind: 'done';
      readonly request: number;
      readonly result: unknown;
      readonly filling: ReadonlySet<number>;
    }
  | { readonly kind: 'failed'; readonly request: number; readonly failure: WriterFailure };
