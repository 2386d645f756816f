import type { JsonObject } from '#shared/json/json.ts';

/**
 * A conversation in the form of no protocol. Each protocol reads it from its own requests and writes its own requests
 * from it, so that any client can call any target.
 */
export interface Conversation {
  /** The system's texts at the beginning, in order. */
  readonly system: ReadonlyArray<TextPart>;
  readonly turns: ReadonlyArray<Turn>;
  readonly tools: ReadonlyArray<Tool>;
  readonly toolChoice: ToolChoice | null;
  /** False if the model may call only one tool at a time. */
  readonly allowsParallelCalls: boolean;
  /** Maximum number of tokens of the answer; null for the target's default. */
  readonly maxTokens: number | null;
  readonly temperature: Tuned | null;
  readonly topP: Tuned | null;
  readonly topK: Tuned | null;
  readonly stopSequences: ReadonlyArray<PlacedValue<string>>;
  /** The form of the answer; null for text. */
  readonly output: OutputForm | null;
  readonly reasoning: Reasoning | null;
  readonly isStreamed: boolean;
  /** Asks the provider to keep all of the prompt; missing if the client does not ask. */
  readonly cacheControl?: PlacedValue<JsonObject>;
}

/** A value with its place in the client's request, for a target that leaves it out. */
export interface PlacedValue<Value> {
  readonly value: Value;
  readonly pointer: string;
}

export type Tuned = PlacedValue<number>;

/** The consecutive parts of one role. A turn of the system has texts alone. */
export interface Turn {
  readonly role: 'user' | 'assistant' | 'system';
  readonly parts: ReadonlyArray<Part>;
}

/** A thing with its place in the client's request (RFC 6901), for messages. */
interface Placed {
  readonly pointer: string;
}

export function joinTurns(turns: ReadonlyArray<Turn>): ReadonlyArray<Turn> {
  const joined: { role: Turn['role']; parts: Part[] }[] = [];
  for (const { role, parts } of turns) {
    const last = joined.at(-1);
    if (last?.role === role) last.parts.push(...parts);
    else joined.push({ role, parts: [...parts] });
  }
  return joined;
}

/** A thing that a provider may keep in a cache. */
export interface Cacheable extends Placed {
  /** Asks the provider to keep the prompt up to here, in Anthropic's form; missing if the client does not ask. */
  readonly cacheControl?: PlacedValue<JsonObject>;
}

export interface TextPart extends Cacheable {
  readonly kind: 'text';
  readonly text: string;
}

/** The source of a file: bytes in Base64, or the address of them, which the gateway never fetches. */
export type Source =
  | { readonly kind: 'base64'; readonly mediaType: string; readonly data: string }
  | { readonly kind: 'url'; readonly url: string };

/** Whether a text is empty or of spaces alone, which some providers refuse. */
export function isBlank(text: string): boolean {
  return text.trim() === '';
}

export function isBlankText(part: Part): boolean {
  return part.kind === 'text' && isBlank(part.text);
}

export interface ImagePart extends Cacheable {
  readonly kind: 'image';
  readonly source: Source;
  /** How closely the model looks at it; null for what the target does by default. */
  readonly detail: PlacedValue<string> | null;
}

/** A file, or a plain text with a name. */
export interface DocumentPart extends Cacheable {
  readonly kind: 'document';
  readonly source: Source | { readonly kind: 'text'; readonly text: string };
  readonly name: PlacedValue<string> | null;
}

export interface ToolCallPart extends Cacheable {
  readonly kind: 'tool-call';
  readonly id: string;
  readonly name: string;
  /** JSON text, as the model wrote it. */
  readonly arguments: string;
  /** The provider that made the call needs it back. */
  readonly state: Signature | null;
}

export interface ToolResultPart extends Cacheable {
  readonly kind: 'tool-result';
  readonly callId: string;
  readonly isError: boolean;
  readonly parts: ReadonlyArray<TextPart | ImagePart | DocumentPart>;
}

/** What the model thought before it answered. */
export interface ReasoningPart extends Placed {
  readonly kind: 'reasoning';
  readonly text: string;
  /** The opaque part, by which the provider that made it recognizes it; null without one. */
  readonly signature: Signature | null;
}

/** An opaque part of an answer, which goes back only to what made it. */
export interface Signature {
  /** The name of what can read it: a protocol, a provider, or a target (`provider/model`). */
  readonly of: string;
  readonly value: string;
  /** Whether the reasoning is hidden, so that the opaque part is all there is. */
  readonly isRedacted: boolean;
}

export type Part = TextPart | ImagePart | DocumentPart | ToolCallPart | ToolResultPart | ReasoningPart;

/** How a client declares a tool that it runs itself. Targets of other protocols know each as a function. */
export type ToolForm = 'function' | 'custom' | 'tool_search' | 'local_shell' | 'shell' | 'apply_patch';

/** A tool as its client names it. */
export interface ClientTool {
  readonly form: ToolForm;
  /** The namespace; null without one. */
  readonly namespace: string | null;
  readonly name: string;
}

export interface Tool extends Cacheable {
  readonly name: string;
  readonly client: ClientTool;
  readonly description: string | null;
  /** The schema of its arguments, as the JSON text that the client sent. */
  readonly schema: string | null;
  readonly isStrict: boolean | null;
}

/** Which tools the model may or must call. */
export type ToolChoice = { readonly kind: 'auto' | 'any' | 'none' } | { readonly kind: 'tool'; readonly name: string };

export interface OutputForm extends Placed {
  readonly name: string;
  readonly description: PlacedValue<string> | null;
  /** The schema as JSON text; null for any JSON. */
  readonly schema: string | null;
  readonly isStrict: boolean | null;
}

export interface Reasoning extends Placed {
  readonly effort: Effort;
  /** The budget; null if the client names only an effort. */
  readonly budgetTokens: number | null;
}

export const efforts = ['none', 'minimal', 'low', 'medium', 'high'] as const;
export type Effort = (typeof efforts)[number];

export interface Unsupported {
  readonly pointer: string;
  readonly message: string;
}
