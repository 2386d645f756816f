import { largeBodyBytes, turn } from '#exchange/turns.ts';
import { maxRefusalBytes } from '#gateway/attempt/attempt-failure.ts';
import type { ForeignJson } from '#gateway/framing/foreign-json.ts';
import type { ValuePlace } from '#gateway/framing/json-members.ts';
import { applyEdits } from '#gateway/framing/splice.ts';
import type { SecretRedactor } from '#gateway/providers/secret-redactor.ts';
import type { WorkOwner } from '#shared/async/fair-queue.ts';
import { isObject, type Json } from '#shared/json/json.ts';
import { isNamed, type JsonListener, JsonScanner } from '#shared/json/json-scanner.ts';

/** The answer passes all the same. The error is that a response that failed, or of a choice. */
export function hasErrors(value: ForeignJson): boolean {
  if (!isObject(value)) return false;
  const { error, choices, response } = value;
  const inside = Array.isArray(choices) ? choices : [response];
  return isSaid(error) || inside.some((each) => isObject(each) && isSaid(each.error));
}

function isSaid(error: Json | undefined): boolean {
  return error !== undefined && error !== null;
}

/**
 * Every other byte stays. A large answer is read in turns.
 * @param held whose turns it takes
 * @returns null for more errors, or larger ones, than an answer may have
 */
export async function redactErrors(bytes: Buffer, redactor: SecretRedactor, held: WorkOwner): Promise<Buffer | null> {
  const errors = new ErrorPlaces(bytes);
  const scanner = new JsonScanner(bytes, { maxValues: Number.POSITIVE_INFINITY }, errors);
  do if (bytes.length > largeBodyBytes) await turn(held, 'answer', scanner.bytesOfSlice);
  while (!scanner.advance());
  return withoutSecrets(bytes, errors, redactor);
}

/** Removes secrets from an event with a response. Errors that are too large are left out. */
export function redactEventErrors(data: string, redactor: SecretRedactor | null): string {
  if (redactor === null) return data;
  const bytes = Buffer.from(data);
  const errors = new ErrorPlaces(bytes);
  const scanner = new JsonScanner(bytes, { maxValues: Number.POSITIVE_INFINITY }, errors);
  while (!scanner.advance());
  return withoutSecrets(bytes, errors, redactor)?.toString() ?? withoutResponse;
}

const withoutResponse = '{"type":"response.failed","response":null}';

function withoutSecrets(bytes: Buffer, { found, size }: ErrorPlaces, redactor: SecretRedactor): Buffer | null {
  if (found.length > maxErrors || size > maxRefusalBytes) return null;
  const edits = found.map(({ valueStart, end }) => ({
    start: valueStart,
    end,
    text: [redactor.redactBody(bytes.subarray(valueStart, end))],
  }));
  return applyEdits(bytes, edits);
}

/** Maximum number of errors, because each is kept until all are found. OpenAI makes 128 choices at most. */
const maxErrors = 1_000;

/** Finds members with the name `error`: of an answer, of the response in an event, and of a choice. */
class ErrorPlaces implements JsonListener {
  readonly maxLevel = 3;
  readonly found: ValuePlace[] = [];
  /** The size of all errors in bytes. They are redacted in one turn of the event loop. */
  size = 0;
  readonly #bytes: Buffer;
  #level: number | null = null;
  #start = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  begin(level: number, start: number, nameStart: number, nameEnd: number): void {
    const isError = nameStart !== -1 && isNamed(this.#bytes, nameStart, nameEnd, 'error');
    if (this.#level !== null || !isError) return;
    this.#level = level;
    this.#start = start;
  }

  end(level: number, end: number): void {
    if (level !== this.#level) return;
    this.#level = null;
    this.size += end - this.#start;
    if (this.found.length <= maxErrors) this.found.push({ valueStart: this.#start, end });
  }
}
