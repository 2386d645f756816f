import * as E from 'fp-ts/lib/Either.js';
import { type Failure, failure, type InputError } from '#domain/failure.ts';
import { readJsonObject } from '#http/json-text.ts';
import { invalidInput, maxInputErrors } from '#operations/input-errors.ts';
import type { Json, JsonObject } from '#src/json.ts';
import { type ReasoningHint, reasoningHints } from './configuration.ts';
import { type Member, membersOf } from './json-members.ts';
import { isObject } from './json-value.ts';
import { spellingFaults } from './member-spelling.ts';

/** A JSON body: its bytes, where its members stand, and what they say. */
export interface JsonRequest {
  readonly bytes: Buffer;
  /** Its bytes as latin1 text, so that offsets are the same. */
  readonly text: string;
  readonly members: ReadonlyArray<Member>;
  readonly value: JsonObject;
}

/** A chat request as far as a relay needs to understand it. */
export interface ChatRequest extends JsonRequest {
  readonly model: string;
  readonly hint: ReasoningHint;
  readonly stream: boolean;
  /** How many choices it asks for. */
  readonly choices: number;
}

/** Reads a body that must be a JSON object. */
export function readJsonRequest(bytes: Buffer): E.Either<Failure, JsonRequest> {
  const value = readJsonObject(bytes);
  if (E.isLeft(value)) return value;
  const text = bytes.toString('latin1');
  const members = membersOf(text);
  // What JSON.parse takes as an object, the reader of members takes, too: they are held to each other by a test.
  if (members === null) return E.left(failure('malformed-json', 'The body cannot be read.'));
  return E.right({ bytes, text, members, value: value.right });
}

/** Reads and checks a chat request: what a relay needs, and the roles and contents that the contract asks for. */
export function readChatRequest(bytes: Buffer): E.Either<Failure, ChatRequest> {
  const request = readJsonRequest(bytes);
  if (E.isLeft(request)) return request;
  const { value } = request.right;
  const faults = [
    ...spellingFaults(namesOf(request.right), ['model']),
    ...textFaults('/model', value.model),
    ...messagesFaults(value.messages),
    ...flagFaults('/stream', value.stream),
    ...hintFaults(value),
  ];
  if (faults.length > 0) return E.left(invalidInput(faults));
  return E.right({
    ...request.right,
    model: value.model as string,
    hint: (value.reasoning ?? 'balanced') as ReasoningHint,
    stream: value.stream === true,
    choices: typeof value.n === 'number' && value.n >= 1 ? value.n : 1,
  });
}

/** The names of a body's members, each as often as it is there. */
export function namesOf({ members }: JsonRequest): ReadonlyArray<string> {
  return members.map(({ name }) => name);
}

/** The longest text that is shown to whoever sent it. */
const shownAtMost = 200;

/** What is wrong with a value, which is shown where it is short: prompts are not sent back. */
export function faultOf(pointer: string, message: string, value: Json): InputError {
  const isShown =
    value === null ||
    typeof value === 'boolean' ||
    (typeof value === 'number' && Number.isFinite(value)) ||
    (typeof value === 'string' && value.length <= shownAtMost);
  return isShown ? { pointer, message, input: value } : { pointer, message };
}

/** What is wrong with a text that must be there. */
export function textFaults(pointer: string, value: Json | undefined): ReadonlyArray<InputError> {
  if (value === undefined) return [{ pointer, message: 'is required' }];
  return typeof value === 'string' ? [] : [faultOf(pointer, 'must be a string', value)];
}

/** What is wrong with a flag; null and absence are false. */
export function flagFaults(pointer: string, value: Json | undefined): ReadonlyArray<InputError> {
  const isFlag = value === undefined || value === null || typeof value === 'boolean';
  return isFlag ? [] : [faultOf(pointer, 'must be true or false', value)];
}

function messagesFaults(messages: Json | undefined): ReadonlyArray<InputError> {
  const pointer = '/messages';
  if (messages === undefined) return [{ pointer, message: 'is required' }];
  if (!Array.isArray(messages)) return [faultOf(pointer, 'must be an array', messages)];
  const faults: InputError[] = [];
  for (const [index, message] of (messages as ReadonlyArray<Json>).entries()) {
    if (faults.length >= maxInputErrors) break;
    faults.push(...messageFaults(`${pointer}/${index}`, message));
  }
  return faults;
}

function messageFaults(pointer: string, message: Json): ReadonlyArray<InputError> {
  if (!isObject(message)) return [faultOf(pointer, 'must be an object', message)];
  const { role, content } = message;
  const isContent = content === undefined || content === null || typeof content === 'string' || Array.isArray(content);
  const faults = textFaults(`${pointer}/role`, role);
  return isContent
    ? faults
    : [...faults, faultOf(`${pointer}/content`, 'must be a string or a list of content parts', content)];
}

function hintFaults({ model, reasoning }: JsonObject): ReadonlyArray<InputError> {
  if (model !== 'auto' || reasoning === undefined || reasoning === null) return [];
  if (reasoningHints.some((hint) => hint === reasoning)) return [];
  const known = reasoningHints.map((hint) => `"${hint}"`).join(', ');
  return [faultOf('/reasoning', `must be one of ${known}`, reasoning)];
}
