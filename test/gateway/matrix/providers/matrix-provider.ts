import type { Answer, Body, StrictProvider } from '#test/gateway/support/strict-provider.ts';
import type { Asked, Fault, Said, Tool } from '../exchange.ts';

/** A provider of one protocol, which answers in the manners of real ones. */
export interface MatrixProvider {
  readonly protocol: string;
  /** The members of its entry in the configuration. */
  readonly entry: object;
  /** The members of a target of it. */
  readonly target: object;
  readonly strict: (answer: Answer) => StrictProvider;
  /** How providers of this protocol say the same. The first one fits everything. */
  readonly manners: readonly [Manner, ...Manner[]];
  /** Whether a later turn brings back what the model thought. */
  readonly getsThoughts: boolean;
  /** What a request asks. */
  readonly read: (body: Body) => Reading;
  /** What it calls an error: its code, else its type. */
  readonly errorNames: Readonly<Record<Fault, string>>;
  /** The body of a refusal. */
  readonly refusal: (fault: Fault) => Body;
  /** The event of an error inside a stream. */
  readonly errorEvent: (fault: Fault) => string;
}

/** How a provider says something. */
export interface Manner {
  readonly name: string;
  /** Whether the turns of a script show it, and it can say them. */
  readonly fits: (script: ReadonlyArray<Said>) => boolean;
  /** Whether the SDKs of the same protocol cannot read it, which get it as it came. */
  readonly isForeign: boolean;
  /** Whether calls have an id. */
  readonly hasIds: boolean;
  /** Whether it has thoughts in its text, where a translated request does not bring them back. */
  readonly mixesThoughts: boolean;
  readonly whole: (said: Said) => Body;
  readonly stream: (said: Said) => Streamed;
}

/** The events of a stream. */
export interface Streamed {
  /** Those before anything is said. */
  readonly start: ReadonlyArray<string>;
  readonly content: ReadonlyArray<string>;
  readonly end: ReadonlyArray<string>;
}

/** What a request asks, in the form of no protocol. */
export interface Reading {
  readonly system: string;
  readonly parts: ReadonlyArray<ReadPart>;
  readonly tools: ReadonlyArray<Tool>;
  readonly schema: object | null;
  readonly thinks: boolean;
}

/** A part of a conversation. */
export type ReadPart =
  | Asked
  | { readonly kind: 'said' | 'thought'; readonly text: string }
  | ReadCall
  | { readonly kind: 'result'; readonly id: string; readonly text: string };

/** A call in a conversation. What is missing there is missing here. */
export interface ReadCall {
  readonly kind: 'call';
  readonly id: string;
  readonly name: string;
  readonly namespace?: string;
  readonly given: unknown;
  readonly state?: string;
}

/** A text in two pieces; none for an empty one. */
export function halves(text: string): ReadonlyArray<string> {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)].filter((piece) => piece !== '');
}

/** The media type and the data of a `data:` URL. */
export function dataOf(url: unknown): { readonly mediaType: string; readonly data: string } {
  const [, mediaType = '', data = ''] = /^data:([^;]+);base64,(.*)$/.exec(String(url)) ?? [];
  return { mediaType, data };
}
