import { isObject, type Json, type JsonObject } from '#shared/json/json.ts';
import { type KnownSettings, settingAt } from './settings.ts';

/** A remark for an operator about one place of the file. */
export interface Remark {
  readonly kind: 'left out' | 'note';
  /** `model_list[3].litellm_params.rpm` */
  readonly place: string;
  /** Holds no value of the file that may be a secret. */
  readonly text: string;
}

/** Reports each remark once, although fallbacks are read again. */
export class ImportReport {
  readonly #byText = new Map<string, Remark>();

  get remarks(): ReadonlyArray<Remark> {
    return [...this.#byText.values()];
  }

  leaveOut(place: string, text: string): void {
    this.#add({ kind: 'left out', place, text });
  }

  note(place: string, text: string): void {
    this.#add({ kind: 'note', place, text });
  }

  addAll(other: ImportReport): void {
    for (const each of other.remarks) this.#add(each);
  }

  #add(remark: Remark): void {
    const { kind, place, text } = remark;
    this.#byText.set(`${kind}: ${place}: ${text}`, remark);
  }
}

/** Members are taken by name, so that those that nothing has read can be named. */
export class Section {
  readonly place: string;
  readonly report: ImportReport;
  readonly #members: Map<string, Json>;

  constructor(place: string, members: JsonObject, report: ImportReport) {
    this.place = place;
    this.report = report;
    this.#members = new Map(Object.entries(members).filter((entry): entry is [string, Json] => entry[1] !== undefined));
  }

  has(name: string): boolean {
    return (this.#members.get(name) ?? null) !== null;
  }

  placeOf(name: string): string {
    return placeIn(this.place, name);
  }

  /** The member's value; undefined if it is missing or null, as for LiteLLM. */
  take(name: string): Json | undefined {
    const value = this.#members.get(name);
    this.#members.delete(name);
    return value ?? undefined;
  }

  /** Takes all members, also those that are null. */
  takeAll(): ReadonlyArray<readonly [string, Json]> {
    const all = [...this.#members];
    this.#members.clear();
    return all;
  }

  /** Takes a text. Another value is left out. */
  takeText(name: string): string | undefined {
    const value = this.take(name);
    if (value === undefined || typeof value === 'string') return value;
    this.leaveOut(name, 'is not a text');
    return undefined;
  }

  /** LiteLLM also reads a number from a text. Another value is left out. */
  takeNumber(name: string, min: number, max: number): number | undefined {
    const value = this.take(name);
    if (value === undefined) return undefined;
    const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
    if (typeof number === 'number' && number >= min && number <= max) return number;
    this.leaveOut(
      name,
      isVariableReference(value)
        ? 'is a variable, and numbers are written here'
        : `is not a number from ${min} to ${max}`,
    );
    return undefined;
  }

  /** Takes a whole number, as `takeNumber` does. */
  takeInteger(name: string, min: number, max: number): number | undefined {
    const number = this.takeNumber(name, min, max);
    if (number === undefined || Number.isInteger(number)) return number;
    this.leaveOut(name, 'is not an integer');
    return undefined;
  }

  takeSection(name: string): Section {
    const value = this.take(name);
    if (value !== undefined && !isObject(value)) this.leaveOut(name, 'is not a map');
    return new Section(placeIn(this.place, name), isObject(value) ? value : {}, this.report);
  }

  takeList(name: string): ReadonlyArray<Json> {
    const value = this.take(name);
    if (value !== undefined && !Array.isArray(value)) this.leaveOut(name, 'is not a list');
    return Array.isArray(value) ? value : [];
  }

  leaveOut(name: string, text: string): void {
    this.report.leaveOut(placeIn(this.place, name), text);
  }

  note(name: string, text: string): void {
    this.report.note(placeIn(this.place, name), text);
  }

  nameOthers(): void {
    for (const name of this.#members.keys()) {
      const place = placeIn(this.place, name);
      const known = settingAt(place);
      if (known?.kind === 'needless') this.report.note(place, known.text);
      else this.report.leaveOut(place, reasonOf(known));
    }
  }
}

function reasonOf(known: KnownSettings | undefined): string {
  if (known === undefined) return 'is not known to this import';
  return known.kind === 'absent' ? known.text : 'has no meaning together with the other settings';
}

export function placeIn(place: string, name: string): string {
  if (!/^[\w-]+$/.test(name)) return `${place}[${visible(name)}]`;
  return place === '' ? name : `${place}.${name}`;
}

/** True if the text refers to a variable in any way that people write it. */
export function isVariableReference(value: Json): boolean {
  return typeof value === 'string' && /^\s*(?:os\.environ|os\.getenv|\$\{?\w|env:)/.test(value);
}

/** Shows the text in quotes, without characters that a terminal acts on. */
export function visible(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text).replace(
    /[^\x20-\x7e…]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
