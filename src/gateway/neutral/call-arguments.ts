import { JsonProgress } from '#shared/json/json-progress.ts';
import type { ClientTools } from './client-tools.ts';

export interface ArgumentRules {
  readonly tools: ClientTools;
  /** Whether its protocol has arguments as an object. In others they are a text. */
  readonly mustBeObjects: boolean;
}

/** Whether a text may stand for arguments: some providers send it first, and what the model asks for after it. */
export function isPlaceholder(text: string): boolean {
  return text.length < maxPlaceholderLength && /^\s*(?:\{\s*\}|\[\s*\]|null)\s*$/.test(text);
}

/** Whether a text says that a tool without parameters gets nothing. */
export function isNothing(text: string): boolean {
  return isPlaceholder(text) && !text.includes('{');
}

/** Whether a piece after a placeholder begins the arguments. Any other piece continues it: it was a part of a text. */
export function replacesPlaceholder(piece: string): boolean {
  return piece.trimStart().startsWith('{');
}

const maxPlaceholderLength = 20;

/** The arguments of one call, in pieces. They are judged, and not kept. */
export class CallArguments {
  readonly #isFreeText: boolean;
  /** Whether the client's own form of a call can have any text. */
  readonly #takesAnyText: boolean;
  readonly #mustBeObject: boolean;
  readonly #progress = new JsonProgress();

  constructor(name: string, { tools, mustBeObjects }: ArgumentRules) {
    this.#isFreeText = tools.isFreeText(name);
    this.#takesAnyText = tools.of(name).form !== 'function';
    this.#mustBeObject = mustBeObjects && !this.#takesAnyText;
  }

  add(piece: string): void {
    this.#progress.add(piece);
  }

  /** True if no piece can be added to it. */
  get isWholeObject(): boolean {
    return this.#progress.isObject && this.#progress.state === 'whole';
  }

  get isEmpty(): boolean {
    return this.#progress.state === 'empty';
  }

  /** What replaces missing arguments: a tool without parameters gets an empty object. */
  get whenEmpty(): string {
    return this.#isFreeText ? '' : '{}';
  }

  /** True if the arguments are cut off, unless more pieces come. */
  get isCut(): boolean {
    return this.#progress.state === 'begun' && !this.isTakable;
  }

  /**
   * True if the client can take the arguments. A client never gets arguments that are cut off or faulty. A model may
   * write a free text as it is, instead of an object with it; that of a built-in tool asks it for nothing then.
   */
  get isTakable(): boolean {
    const { state, isObject } = this.#progress;
    if (state === 'faulty') return this.#takesAnyText;
    if (state === 'begun') return this.#takesAnyText && !isObject;
    return !this.#mustBeObject || state === 'empty' || this.isWholeObject;
  }
}
