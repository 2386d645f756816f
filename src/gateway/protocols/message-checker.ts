import type { InputError } from '#domain/shared/failure.ts';
import { maxInputErrors } from '#exchange/input-errors.ts';
import { inputError, lastMember, type Members, scalarValue, type ValuePlace } from '#gateway/framing/json-members.ts';
import type { Json } from '#shared/json/json.ts';
import { isNamed, type JsonListener } from '#shared/json/json-scanner.ts';

const openBrace = 0x7b;
const openBracket = 0x5b;
const letterN = 0x6e;
const quote = 0x22;

type Growing = { -readonly [Key in keyof ValuePlace]: ValuePlace[Key] };

/** @param members of the request, `messages` among them */
export function messagesFaults(
  bytes: Buffer,
  members: Members,
  { faults }: Pick<MessageChecker, 'faults'>,
): ReadonlyArray<InputError> {
  const pointer = '/messages';
  const member = lastMember(members, 'messages');
  if (member === undefined) return [{ pointer, message: 'is required' }];
  const value = scalarValue(bytes, member);
  return Array.isArray(value) ? faults : [inputError(pointer, 'must be an array', value as Json)];
}

/** Checks roles and contents while a scanner reads the request: messages are on level 2. */
export class MessageChecker implements JsonListener {
  readonly maxLevel = 3;
  /** The faults of the last `messages`, at most 100. */
  faults: InputError[] = [];
  lastUserContent: ValuePlace | null = null;
  /** True if the last message is the user's. Messages of the system do not count. */
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
    if (!this.#isOfSystem(role)) this.isUserLast = role !== null && this.#hasName(role, 'user');
    if (role !== null && this.#hasName(role, 'user')) this.lastUserContent = this.#content;
    if (this.faults.length < maxInputErrors) this.faults.push(...this.#messageFaults(end));
  }

  #isOfSystem(role: ValuePlace | null): boolean {
    return role !== null && (this.#hasName(role, 'system') || this.#hasName(role, 'developer'));
  }

  #hasName({ valueStart, end }: ValuePlace, name: string): boolean {
    return isNamed(this.#bytes, valueStart, end, name);
  }

  /** Begins the list. If `messages` occurs twice, the last one counts, as for JSON.parse. */
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

/** True for a text, a list of parts, or null, by its first byte. */
function isContent(first: number | undefined): boolean {
  return first === quote || first === openBracket || first === letterN;
}
