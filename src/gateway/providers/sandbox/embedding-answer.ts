import { createHash } from 'node:crypto';
import * as E from 'fp-ts/lib/Either.js';
import { scanJsonObject } from '#exchange/json-body.ts';
import {
  lastMember,
  MemberCollector,
  scalarMember,
  type ValuePlace,
  wantedNames,
} from '#gateway/framing/json-members.ts';
import { type LocalAnswer, refusalAnswer } from '#gateway/transport/local-transport.ts';
import type { JsonListener } from '#shared/json/json-scanner.ts';
import { sandboxModel } from './chat-answer.ts';

const usualDimensions = 1_536;
const maxDimensions = 4_096;
/** Maximum number of inputs, which is OpenAI's limit. */
const maxInputs = 2_048;

/**
 * The unit vectors are made from the hash of each input. The body is scanned in slices and never parsed, because it may
 * be large.
 */
export async function answerEmbeddings(body: Buffer): Promise<LocalAnswer> {
  const listener = new InputCollector(body);
  const scanned = await scanJsonObject(body, Number.POSITIVE_INFINITY, listener);
  if (E.isLeft(scanned)) throw new Error(scanned.left.detail);
  const { members } = listener;
  const dimensions = scalarMember(body, members, 'dimensions');
  const size = typeof dimensions === 'number' ? dimensions : usualDimensions;
  const inputs = listener.inputs();
  if (inputs.length > maxInputs) return refused(`${maxInputs} inputs at most`);
  if (size > maxDimensions) return refused(`vectors of ${maxDimensions} numbers at most`);
  const isBase64 = scalarMember(body, members, 'encoding_format') === 'base64';
  return { status: 200, contentType: 'application/json', pieces: piecesOf(body, inputs, size, isBase64) };
}

function refused(accepted: string): LocalAnswer {
  return refusalAnswer('sandbox_cannot_answer', `The sandbox takes ${accepted}.`);
}

interface Input extends ValuePlace {
  /** The number of tokens in a list of them; null for a text. */
  readonly tokens: number | null;
}

const names = wantedNames({ input: [], dimensions: [], encoding_format: [] });
const openBracket = 0x5b;
const quote = 0x22;

class InputCollector implements JsonListener {
  readonly maxLevel = 3;
  readonly members: MemberCollector;
  readonly #body: Buffer;
  #items: { valueStart: number; end: number; tokens: number | null }[] = [];

  constructor(body: Buffer) {
    this.#body = body;
    this.members = new MemberCollector(body, names);
  }

  /** A text and a list of tokens are one input, and a list of these is many. */
  inputs(): ReadonlyArray<Input> {
    const input = lastMember(this.members, 'input');
    if (input === undefined) return [];
    const isText = this.#body[input.valueStart] !== openBracket;
    const [first] = this.#items;
    const isTokens = first !== undefined && first.tokens === null && this.#body[first.valueStart] !== quote;
    return isText || isTokens ? [{ ...input, tokens: isText ? null : input.size }] : this.#items;
  }

  begin(level: number, start: number, nameStart: number, nameEnd: number): void {
    if (level < 3) this.members.begin(level, start, nameStart, nameEnd);
    if (this.members.current !== 'input') return;
    if (level === 1) this.#items = [];
    else if (level === 2) this.#itemBegins(start);
    else if (level === 3) this.#countToken();
  }

  end(level: number, end: number): void {
    const item = this.#items.at(-1);
    if (level === 2 && item !== undefined && this.members.current === 'input') item.end = end;
    if (level < 3) this.members.end(level, end);
  }

  /** Notes an item. One more than the limit is kept, so that the request is refused. */
  #itemBegins(start: number): void {
    const tokens = this.#body[start] === openBracket ? 0 : null;
    if (this.#items.length <= maxInputs) this.#items.push({ valueStart: start, end: start, tokens });
  }

  #countToken(): void {
    const item = this.#items.at(-1);
    if (item !== undefined && item.tokens !== null) item.tokens += 1;
  }
}

/** Pieces of the answer, one for each vector, because all of them together may be very large. */
function* piecesOf(body: Buffer, inputs: ReadonlyArray<Input>, size: number, isBase64: boolean): Iterable<Buffer> {
  let total = 0;
  for (const [index, { valueStart, end, tokens }] of inputs.entries()) {
    const input = body.subarray(valueStart, end);
    total += tokens ?? blanksIn(input) + 1;
    const vector = unitVector(input, size);
    const embedding = isBase64 ? Buffer.from(vector.buffer).toString('base64') : Array.from(vector, rounded);
    const item = JSON.stringify({ object: 'embedding', index, embedding });
    yield Buffer.from(index === 0 ? `{"object":"list","data":[${item}` : `,${item}`);
  }
  const usage = { prompt_tokens: total, total_tokens: total };
  yield Buffer.from(`],"model":${JSON.stringify(sandboxModel)},"usage":${JSON.stringify(usage)}}`);
}

function blanksIn(text: Buffer): number {
  let blanks = 0;
  for (let at = text.indexOf(' '); at !== -1; at = text.indexOf(' ', at + 1)) blanks += 1;
  return blanks;
}

/** The same input has the same vector. The numbers are little-endian in memory, as clients expect them in Base64. */
function unitVector(input: Buffer, size: number): Float32Array<ArrayBuffer> {
  const random = createHash('shake256', { outputLength: size * 4 })
    .update(input)
    .digest();
  const numbers = Float32Array.from({ length: size }, (_, index) => random.readInt32LE(index * 4) / 2 ** 31);
  const length = Math.hypot(...numbers);
  return numbers.map((number) => number / length);
}

/** Rounds to about seven digits. */
function rounded(number: number): number {
  return Number(number.toPrecision(8));
}
