import { hash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { LineCalls } from '#application/batches/line-calls.ts';
import type { BatchError, BatchEvents } from '#domain/batch/events.ts';
import type { NumberedLine } from './read-lines.ts';

/** The most lines of a batch. */
const maxBatchLines = 50_000;
/** The most bytes of a batch's input. */
const maxBatchBytes = 200 * 1024 * 1024;

/** The most faults that are reported for one input. */
const maxErrors = 100;
const linesInATurn = 64;

/** The faults of an input, or the number of its lines. */
export type CheckedInput = { readonly errors: ReadonlyArray<BatchError> } | { readonly total: number };

/**
 * Checks all lines of a batch's input, one after the other.
 * @param isWanted is called between lines; if it returns false, the check ends with null
 */
export async function checkInput(
  lines: AsyncIterable<NumberedLine>,
  { endpoint, bytes }: { readonly endpoint: BatchEvents['BatchCreated']['endpoint']; readonly bytes: number },
  calls: Pick<LineCalls, 'read'>,
  isWanted: () => boolean,
): Promise<CheckedInput | null> {
  if (bytes > maxBatchBytes) return { errors: [wholeError('file_too_large', tooManyBytes)] };
  const errors: BatchError[] = [];
  /** A hash takes the same memory for an id of any length. */
  const seen = new Set<string>();
  let total = 0;
  for await (const { number, bytes: line } of lines) {
    if (total % linesInATurn === 0) await nextTurn();
    if (!isWanted()) return null;
    total += 1;
    if (total > maxBatchLines)
      return { errors: [...errors.slice(0, maxErrors - 1), wholeError('too_many_lines', tooManyLines)] };
    if (errors.length >= maxErrors) continue;
    const read = line === null ? lineTooLong : await calls.read(line, endpoint);
    if ('code' in read) errors.push({ ...read, line: number });
    else {
      const id = hash('sha256', read.customId, 'base64').slice(0, 24);
      if (seen.has(id)) errors.push({ ...doubled, line: number });
      seen.add(id);
    }
  }
  if (total === 0) return { errors: [wholeError('empty_file', 'The input has no lines.')] };
  return errors.length > 0 ? { errors } : { total };
}

const tooManyBytes = `The input of a batch may have ${maxBatchBytes} bytes at most.`;
const tooManyLines = `A batch may have ${maxBatchLines} lines at most.`;
const lineTooLong = { code: 'line_too_long', message: 'The line is longer than a request may be.', param: null };
const doubled = {
  code: 'duplicate_custom_id',
  message: 'An earlier line has this custom_id.',
  param: 'custom_id',
};

function wholeError(code: string, message: string): BatchError {
  return { code, line: null, message, param: null };
}
