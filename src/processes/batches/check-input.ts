import { hash } from 'node:crypto';
import type { LineCalls } from '#application/batches/line-calls.ts';
import type { BatchError, BatchEvents } from '#domain/batch/events.ts';
import { clock } from '#shared/clock.ts';
import { type NumberedLine, TooManyLinesError } from './read-lines.ts';

const maxBatchLines = 50_000;
/** Maximum number of lines, with blank ones. */
export const maxInputLines = 1_000_000;
/** Maximum bytes of a batch's input. */
const maxBatchBytes = 200 * 1024 * 1024;

/** Maximum number of errors that are reported for one input. */
const maxErrors = 100;
const linesInATurn = 64;

/** The faults of an input, or the number of its lines. */
export type CheckedInput = { readonly errors: ReadonlyArray<BatchError> } | { readonly total: number };

/**
 * Checks one line after the other.
 * @param isWanted is called between lines; if it returns false, the check ends with null
 */
export async function checkInput(
  lines: AsyncIterable<NumberedLine>,
  { endpoint, bytes }: { readonly endpoint: BatchEvents['BatchCreated']['endpoint']; readonly bytes: number },
  calls: Pick<LineCalls, 'read'>,
  isWanted: () => boolean,
): Promise<CheckedInput | null> {
  if (bytes > maxBatchBytes) return { errors: [wholeError('file_too_large', tooManyBytes)] };
  const check = new InputCheck(endpoint, calls);
  try {
    for await (const line of lines) {
      if (!isWanted()) return null;
      await check.add(line).finally(() => line.release());
      if (check.hasTooManyLines) break;
    }
  } catch (error) {
    if (!(error instanceof TooManyLinesError)) throw error;
    return check.refusal(tooManyBlankLines);
  }
  // Lines may end early because the check is not wanted any more.
  return isWanted() ? check.result() : null;
}

class InputCheck {
  readonly #errors: BatchError[] = [];
  readonly #endpoint: BatchEvents['BatchCreated']['endpoint'];
  readonly #calls: Pick<LineCalls, 'read'>;
  /** Hashes of the ids that were seen. A hash takes the same memory for an id of any length. */
  readonly #seen = new Set<string>();
  #total = 0;

  constructor(endpoint: BatchEvents['BatchCreated']['endpoint'], calls: Pick<LineCalls, 'read'>) {
    this.#endpoint = endpoint;
    this.#calls = calls;
  }

  get hasTooManyLines(): boolean {
    return this.#total > maxBatchLines;
  }

  async add({ number, bytes }: NumberedLine): Promise<void> {
    if (this.#total % linesInATurn === 0) await clock.nextTurn();
    this.#total += 1;
    if (this.hasTooManyLines || this.#errors.length >= maxErrors) return;
    const read = bytes === null ? lineTooLong : await this.#calls.read(bytes, this.#endpoint);
    const fault = 'code' in read ? read : this.#isSeen(read.customId) ? doubled : null;
    if (fault !== null) this.#errors.push({ ...fault, line: number });
  }

  result(): CheckedInput {
    if (this.hasTooManyLines) return this.refusal(tooManyLines);
    if (this.#total === 0) return { errors: [wholeError('empty_file', 'The input has no lines.')] };
    return this.#errors.length > 0 ? { errors: this.#errors } : { total: this.#total };
  }

  refusal(message: string): CheckedInput {
    return { errors: [...this.#errors.slice(0, maxErrors - 1), wholeError('too_many_lines', message)] };
  }

  #isSeen(customId: string): boolean {
    const id = hash('sha256', customId, 'base64').slice(0, 24);
    if (this.#seen.has(id)) return true;
    this.#seen.add(id);
    return false;
  }
}

const tooManyBytes = `The input of a batch may have ${maxBatchBytes} bytes at most.`;
const tooManyLines = `A batch may have ${maxBatchLines} lines at most.`;
const tooManyBlankLines = `The input of a batch may have ${maxInputLines} lines at most, with blank ones.`;
const lineTooLong = { code: 'line_too_long', message: 'The line is longer than a request may be.', param: null };
const doubled = {
  code: 'duplicate_custom_id',
  message: 'An earlier line has this custom_id.',
  param: 'custom_id',
};

function wholeError(code: string, message: string): BatchError {
  return { code, line: null, message, param: null };
}
