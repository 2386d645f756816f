import * as E from 'fp-ts/lib/Either.js';
import type { Failure, InputError } from '#domain/shared/failure.ts';
import { invalidInput, maxInputErrors } from '#exchange/input-errors.ts';
import { type ReasoningHint, reasoningHints } from '#gateway/config/configuration.ts';
import {
  lastMember,
  MemberCollector,
  type Place,
  scalarMember,
  scalarValue,
  wantedNames,
} from '#gateway/framing/json-members.ts';
import { type JsonRequest, readMembers } from '#gateway/framing/json-request.ts';
import { checkFlag, checkText, inputError, spellingFaults } from '#gateway/framing/member-checks.ts';
import type { Json } from '#shared/json/json.ts';
import type { JsonListener } from '#shared/json/json-scanner.ts';
import { isNamed } from '#shared/json/json-tokens.ts';

/** The parts of a chat request that the gateway reads. */
export interface ChatRequest extends JsonRequest {
  readonly model: string;
  readonly hint: ReasoningHint;
  readonly stream: boolean;
  /** The number of requested choices. */
  readonly choices: number;
  /** The place of the content of the user's last message; null without one. */
  readonly lastUserContent: Place | null;
  /** Whether the last message is the user's, and not for example the result of a tool. */
  readonly isUserLast: boolean;
}

/** The members of a chat request that the gateway changes, checks or reads. */
const chatNames = wantedNames(
  {
    model: [],
    messages: [],
    stream: [],
    reasoning: [],
    n: [],
    stream_options: ['include_usage'],
    response_format: ['type'],
    tools: [],
    tool_choice: [],
    functions: [],
    logprobs: [],
    audio: [],
    modalities: [],
  },
  ['model'],
);

/** Reads and checks a chat request: the members that the gateway needs, and the roles and contents of messages. */
export async function readChatRequest(bytes: Buffer, maxValues: number): Promise<E.Either<Failure, ChatRequest>> {
  const listener = new ChatListener(bytes);
  const request = await readMembers(bytes, listener.members, maxValues, listener);
  if (E.isLeft(request)) return request;
  const said = (name: string) => scalarMember(bytes, request.right.members, name);
  const [model, stream, reasoning, choices] = [said('model'), said('stream'), said('reasoning'), said('n')];
  const faults = [
    ...spellingFaults(request.right.members.otherSpellings, ['model']),
    ...checkText('/model', model),
    ...messagesFaults(bytes, listener),
    ...checkFlag('/stream', stream),
    ...hintFaults(model, reasoning),
  ];
  if (faults.length > 0) return E.left(invalidInput(faults));
  return E.right({
    ...request.right,
    model: model as string,
    hint: (reasoning ?? 'balanced') as ReasoningHint,
    stream: stream === true,
    lastUserContent: listener.messages.lastUserContent,
    isUserLast: listener.messages.isUserLast,
    choices: typeof choices === 'number' && choices >= 1 ? choices : 1,
  });
}

/** Collects a chat's members and checks its messages. */
class ChatListener implements JsonListener {
  readonly maxLevel = 3;
  readonly members: MemberCollector;
  readonly messages: MessageChecker;
  #isInMessages = false;

  constructor(bytes: Buffer) {
    this.members = new MemberCollector(bytes, chatNames);
    this.messages = new MessageChecker(bytes);
  }

  begin(level: number, start: number, nameStart: number, nameEnd: number): void {
    if (level < 3) this.members.begin(level, start, nameStart, nameEnd);
    if (level === 1) this.#isInMessages = this.members.current === 'messages';
    if (this.#isInMessages) this.messages.begin(level, start, nameStart, nameEnd);
  }

  end(level: number, end: number): void {
    if (level < 3) this.members.end(level, end);
    if (this.#isInMessages) this.messages.end(level, end);
  }
}

function messagesFaults(bytes: Buffer, { members, messages }: ChatListener): ReadonlyArray<InputError> {
  const pointer = '/messages';
  const member = lastMember(members, 'messages');
  if (member === undefined) return [{ pointer, message: 'is required' }];
  const value = scalarValue(bytes, member);
  return Array.isArray(value) ? messages.faults : [inputError(pointer, 'must be an array', value as Json)];
}

function hintFaults(model: Json | undefined, reasoning: Json | undefined): ReadonlyArray<InputError> {
  if (model !== 'auto' || reasoning === undefined || reasoning === null) return [];
  if (reasoningHints.some((hint) => hint === reasoning)) return [];
  const known = reasoningHints.map((hint) => `"${hint}"`).join(', ');
  return [inputError('/reasoning', `must be one of ${known}`, reasoning)];
}

const openBrace = 0x7b;
const openBracket = 0x5b;
const letterN = 0x6e;
const quote = 0x22;

type Growing = { -readonly [Key in keyof Place]: Place[Key] };

/** Checks the roles and contents of a chat's messages while a scanner reads them: messages are on level 2. */
export class MessageChecker implements JsonListener {
  readonly maxLevel = 3;
  /** The faults of the last `messages`, at most 100. */
  faults: InputError[] = [];
  /** The place of the content of the user's last message; null without one. */
  lastUserContent: Place | null = null;
  isUserLast = false;
  readonly #bytes: Buffer;
  #isList = false;
  #index = -1;
  #start = 0;
  #role: Growing | null = null;
  #content: Growing | null = null;
  /** The member of a message that is being read. */
  #part: Growing | null = null;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  begin(level: number, start: number, nameStart: number, nameEnd: number): void {
    if (level === 1) this.#listBegins(start);
    else if (!this.#isList) return;
    else if (level === 2) this.#messageBegins(start);
    else if (level === 3 && nameStart !== -1) this.#partBegins(start, nameStart, nameEnd);
  }

  end(level: number, end: number): void {
    if (!this.#isList) return;
    if (level === 3 && this.#part !== null) this.#part.end = end;
    if (level !== 2) return;
    const role = this.#role;
    this.isUserLast = role !== null && isNamed(this.#bytes, role.valueStart, role.end, 'user');
    if (this.isUserLast) this.lastUserContent = this.#content;
    if (this.faults.length < maxInputErrors) this.faults.push(...this.#messageFaults(end));
  }

  /** If `messages` occurs twice, the last one counts, as for JSON.parse. */
  #listBegins(start: number): void {
    this.#isList = this.#bytes[start] === openBracket;
    this.#index = -1;
    this.lastUserContent = null;
    this.isUserLast = false;
    this.faults = [];
  }

  #messageBegins(start: number): void {
    this.#index += 1;
    this.#start = start;
    this.#part = null;
    this.#role = null;
    this.#content = null;
  }

  #partBegins(start: number, nameStart: number, nameEnd: number): void {
    this.#part = null;
    if (isNamed(this.#bytes, nameStart, nameEnd, 'role')) this.#part = this.#role = { valueStart: start, end: start };
    else if (isNamed(this.#bytes, nameStart, nameEnd, 'content'))
      this.#part = this.#content = { valueStart: start, end: start };
  }

  #messageFaults(end: number): ReadonlyArray<InputError> {
    const pointer = `/messages/${this.#index}`;
    const bytes = this.#bytes;
    if (bytes[this.#start] !== openBrace) {
      return [inputError(pointer, 'must be an object', scalarValue(bytes, { valueStart: this.#start, end }))];
    }
    const faults: InputError[] = [];
    if (this.#role === null) faults.push({ pointer: `${pointer}/role`, message: 'is required' });
    else if (bytes[this.#role.valueStart] !== quote)
      faults.push(inputError(`${pointer}/role`, 'must be a string', scalarValue(bytes, this.#role)));
    if (this.#content !== null && !isContent(bytes[this.#content.valueStart]))
      faults.push(
        inputError(
          `${pointer}/content`,
          'must be a string or a list of content parts',
          scalarValue(bytes, this.#content),
        ),
      );
    return faults;
  }
}

/** Whether what begins with this byte is a text, a list of parts, or null. */
function isContent(first: number | undefined): boolean {
  return first === quote || first === openBracket || first === letterN;
}
