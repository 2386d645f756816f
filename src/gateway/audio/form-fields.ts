import * as E from 'fp-ts/lib/Either.js';
import type { Failure } from '#domain/shared/failure.ts';
import { bodyShortageFailure } from '#exchange/body.ts';
import type { ByteReservation } from '#exchange/byte-budget.ts';
import { invalidInput } from '#exchange/input-errors.ts';
import { scanJsonObject } from '#exchange/json-body.ts';
import type { ValuePlace } from '#gateway/framing/json-members.ts';
import { pointerTo } from '#shared/json/json-pointer.ts';
import { isNamed, type JsonListener, stringIn } from '#shared/json/json-scanner.ts';

const quote = 0x22;
const openBracket = 0x5b;
const letterN = 0x6e;

/** Maximum number of fields. A client's own form may have texts of as many bytes. */
const maxFields = 100;
const maxFieldBytes = 1024 * 1024;

/** Number of bytes of a field's headers and delimiter. */
const bytesAroundField = 256;

interface FieldPlace extends ValuePlace {
  readonly nameStart: number;
  readonly nameEnd: number;
  readonly isItem: boolean;
}

/**
 * Reads the members of a line's body as the fields of a form: a list becomes one field for each item, as OpenAI's
 * clients send it, and an object its JSON. The file is left out.
 * @param hold counts the bytes of the form
 */
export async function readFormFields(
  bytes: Buffer,
  maxValues: number,
  hold: ByteReservation,
): Promise<E.Either<Failure, ReadonlyArray<readonly [string, string]>>> {
  const places = new FieldPlaces(bytes);
  const scanned = await scanJsonObject(bytes, maxValues, places);
  if (E.isLeft(scanned)) return scanned;
  if (places.fault !== null) return E.left(places.fault);
  const shortage = hold.take(places.bytes);
  return shortage === null ? E.right(fieldsAt(bytes, places.found)) : E.left(bodyShortageFailure(shortage));
}

/** The fields at places. The last member of a name counts, as for JSON.parse. */
function fieldsAt(bytes: Buffer, places: ReadonlyArray<FieldPlace>): ReadonlyArray<readonly [string, string]> {
  const named = Map.groupBy(places, ({ nameStart }) => nameStart);
  const members = new Map<string, ReadonlyArray<readonly [string, string]>>();
  for (const [nameStart, fields] of named) {
    const name = stringIn(bytes, nameStart, fields[0]?.nameEnd ?? nameStart);
    members.set(
      name,
      fields.map((field) => [field.isItem ? `${name}[]` : name, textAt(bytes, field)]),
    );
  }
  return [...members.values()].flat();
}

function textAt(bytes: Buffer, { valueStart, end }: ValuePlace): string {
  return bytes[valueStart] === quote ? stringIn(bytes, valueStart, end) : bytes.toString('utf8', valueStart, end);
}

type Growing = { -readonly [Key in keyof FieldPlace]: FieldPlace[Key] };

/** Finds the fields in a body while a scanner reads it. */
class FieldPlaces implements JsonListener {
  readonly maxLevel = 2;
  readonly found: Growing[] = [];
  /** Why the fields cannot become a form; null while they can. */
  fault: Failure | null = null;
  /** The maximum size of a form with the fields so far. */
  bytes = 0;
  readonly #body: Buffer;
  /** The member that is read, if it becomes fields. */
  #member: { readonly nameStart: number; readonly nameEnd: number; readonly isList: boolean } | null = null;
  #field: Growing | null = null;

  constructor(body: Buffer) {
    this.#body = body;
  }

  begin(level: number, start: number, nameStart: number, nameEnd: number): void {
    if (level === 0 || this.fault !== null) return;
    if (level === 1) this.#memberBegins(start, nameStart, nameEnd);
    else if (this.#member?.isList === true) this.#itemBegins(start, this.#member);
  }

  end(level: number, end: number): void {
    if (this.#field !== null && level === (this.#field.isItem ? 2 : 1)) this.#fieldEnds(this.#field, end);
    if (level === 1) this.#member = null;
  }

  #memberBegins(start: number, nameStart: number, nameEnd: number): void {
    const first = this.#body[start];
    if (first === letterN || isNamed(this.#body, nameStart, nameEnd, 'file')) return;
    this.#member = { nameStart, nameEnd, isList: first === openBracket };
    if (!this.#member.isList) this.#add({ nameStart, nameEnd, isItem: false, valueStart: start, end: start });
  }

  #itemBegins(start: number, { nameStart, nameEnd }: Pick<FieldPlace, 'nameStart' | 'nameEnd'>): void {
    const first = this.#body[start];
    if (first === letterN) return;
    if (first === openBracket) this.#fail(pointerAt(this.#body, nameStart, nameEnd), 'must not hold a list in a list');
    else this.#add({ nameStart, nameEnd, isItem: true, valueStart: start, end: start });
  }

  #add(field: Growing): void {
    if (this.found.length === maxFields) {
      this.#fail('', `must have at most ${maxFields} fields; each item of a list is one`);
      return;
    }
    this.#field = field;
    this.found.push(field);
  }

  #fieldEnds(field: Growing, end: number): void {
    field.end = end;
    this.#field = null;
    this.bytes += field.nameEnd - field.nameStart + end - field.valueStart + bytesAroundField;
    if (this.bytes > maxFieldBytes) this.#fail('', `must have fields of at most ${maxFieldBytes} bytes in all`);
  }

  #fail(pointer: string, message: string): void {
    this.#field = null;
    this.#member = null;
    this.fault ??= invalidInput([{ pointer, message }]);
  }
}

/** Maximum length of a name in a failure. */
const maxNamedBytes = 200;

function pointerAt(bytes: Buffer, nameStart: number, nameEnd: number): string {
  return nameEnd - nameStart > maxNamedBytes ? '' : pointerTo([stringIn(bytes, nameStart, nameEnd).toWellFormed()]);
}
