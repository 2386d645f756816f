/** What a client asks, in the form of no protocol. */
export interface Question {
  readonly system: string;
  readonly content: ReadonlyArray<Asked>;
  readonly tools: ReadonlyArray<Tool>;
  /** The JSON Schema of the answer; null for a text. */
  readonly schema: object | null;
  /** Whether the model should think. */
  readonly thinks: boolean;
}

/** What may end a part of the prompt that is to be cached. */
export interface Cacheable {
  /** Missing if it does not end one. */
  readonly isCached?: true;
}

/** A part of a question. The data is in Base64. */
export type Asked =
  | ({ readonly kind: 'text'; readonly text: string } & Cacheable)
  | { readonly kind: 'image'; readonly mediaType: string; readonly data: string }
  | { readonly kind: 'document'; readonly mediaType: string; readonly data: string; readonly name: string };

/** A function that the client offers. */
export interface Tool extends Cacheable {
  /** The name in the client's request. */
  readonly name: string;
  /** Its namespace, which a client of Responses has; missing for none. */
  readonly namespace?: string;
  readonly description: string;
  readonly schema: { readonly type: 'object'; readonly properties: object; readonly required: ReadonlyArray<string> };
}

/** What the model of a provider says in one turn, in this order. */
export interface Said {
  /** Empty for none. */
  readonly thought: string;
  /** Empty for none. */
  readonly text: string;
  readonly calls: ReadonlyArray<SaidCall>;
  readonly reason: Reason;
}

/** A call of a tool. */
export interface SaidCall {
  readonly id: string;
  /** The name in the client's request. */
  readonly name: string;
  /** Its namespace for the provider; missing for none. */
  readonly namespace?: string;
  /** Its arguments, as JSON text, which may be cut off. */
  readonly given: string;
  /** What the provider needs back with it; missing for nothing. */
  readonly state?: string;
}

/** Why an answer ends. */
export type Reason = 'stop' | 'tool-calls' | 'length';

/** The tokens of every answer. */
export const tokens = { input: 15, cached: 5, output: 7 };

/** What a provider does with a request. */
export type Act =
  | { readonly kind: 'says'; readonly said: Said }
  /** Says it after a silence, which lasts until the client has its head. */
  | { readonly kind: 'pauses'; readonly said: Said }
  /** Says what no client can take. */
  | { readonly kind: 'garbles'; readonly said: Said }
  /** Answers with this status. */
  | { readonly kind: 'refuses'; readonly fault: Fault }
  /** Answers with 200, and with an error at this place of the stream: `silence` lasts until the client has its head. */
  | { readonly kind: 'fails'; readonly after: 'nothing' | 'silence' | 'text'; readonly fault: Fault }
  /** Breaks the connection after a part of the answer. */
  | { readonly kind: 'breaks' };

/** An error of a provider. */
export type Fault = 'busy' | 'invalid';

/** The statuses of errors. */
export const statuses: Readonly<Record<Fault, number>> = { busy: 429, invalid: 400 };

/** What a client makes of an answer. */
export type Outcome = Answered | Failed;

/** An answer that came. */
export interface Answered {
  readonly kind: 'answer';
  readonly thought: string;
  readonly text: string;
  readonly calls: ReadonlyArray<GotCall>;
  readonly reason: Reason | string;
  readonly tokens: typeof tokens;
}

/** A call as a client got it. */
export interface GotCall {
  readonly id: string;
  readonly name: string;
  readonly namespace?: string;
  /** The value of its arguments, or their text if that is no JSON. */
  readonly given: unknown;
}

/** An error that the official SDK throws or shows. */
export interface Failed {
  readonly kind: 'error';
  /** Null for an error inside a stream. */
  readonly status: number | null;
  /** Its code, else its type. */
  readonly code: string | null;
  /** The text before it. */
  readonly text: string;
}

/** The value of JSON, or the text if it is none. */
export function parsedOrText(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return json;
  }
}
