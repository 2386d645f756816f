import type * as E from 'fp-ts/lib/Either.js';
import type { Failure } from '#domain/shared/failure.ts';
import type { ErrorForm } from '#exchange/error-form.ts';
import type { ReadBody } from '#gateway/framing/json-members.ts';
import type { LongTexts } from '#gateway/framing/long-texts.ts';
import type { StreamInterpreter } from '#gateway/framing/stream-interpreter.ts';
import type { Answer } from '#gateway/neutral/answer.ts';
import type { AnswerReader, AnswerWriter } from '#gateway/neutral/answer-event.ts';
import type { ClientTools } from '#gateway/neutral/client-tools.ts';
import type { Conversation, Unsupported } from '#gateway/neutral/conversation.ts';
import type { JsonObject } from '#shared/json/json.ts';
import type { NamedId } from './provider-ids.ts';
import type { TargetModel } from './target-model.ts';

/**
 * Maximum number of values in a body that is parsed to the neutral form, because that takes one turn of the event loop.
 */
export const maxTranslatedValues = 100_000;

/** The hints by which `auto` picks a model. */
export const reasoningHints = ['fast', 'balanced', 'smart', 'turbo'] as const;
export type ReasoningHint = (typeof reasoningHints)[number];

/**
 * A protocol for generating text. What it can do is said here: no other file asks for its name. Its half for clients
 * reads requests and writes answers; its half for providers writes requests and reads answers. Two protocols meet in
 * the neutral form alone.
 */
export interface Protocol {
  /** Its name in the configuration, and in signatures that it alone can read. */
  readonly name: string;
  readonly requiredMember: string;
  /** The path below the provider's base URL. */
  readonly path: (request: RequestedText) => string;
}

interface RequestedText {
  readonly model: string;
  readonly streams: boolean;
}

/** A protocol that clients speak. Targets that speak it too get their requests as they come. */
export interface ClientProtocol extends Protocol {
  readonly client: ClientHalf;
}

/** A protocol in which the gateway writes requests from the neutral form. */
export interface ProviderProtocol extends Protocol {
  readonly provider: ProviderHalf;
}

export type TextProtocol = ClientProtocol & ProviderProtocol;

export interface ClientHalf {
  /** Headers of a request that only providers of this protocol get, in lower case. */
  readonly headers: ReadonlyArray<string>;
  /** The headers among them that ask for something. A target of another protocol does not get it. */
  readonly askingHeaders: ReadonlyArray<string>;
  /** Checks a body without parsing it; a large one in slices. */
  readonly read: (bytes: Buffer, maxValues: number) => ReadBody<TextRequest>;
  readonly errors: ErrorForm;
  /** What a client gets in the silence of a stream. */
  readonly signOfLife: string;
  /** Whether it has the arguments of a call as an object. In others they are a text. */
  readonly hasArgumentsAsObjects: boolean;
}

export interface WriterOptions {
  /** The model, if the provider does not say it. */
  readonly model: string;
  /** True if the client has the beginning of the answer already: the stream begins inside its only text. */
  readonly isContinuation: boolean;
  readonly tools: ClientTools;
}

export interface RequestChanges {
  readonly target: NativeTarget;
  /** Whether the provider is asked for the usage of a stream although the client does not. */
  readonly asksUsage: boolean;
  /** The answer's text so far, which the target continues; null for a new answer. */
  readonly continueFrom: string | null;
}

export interface NativeTarget {
  readonly model: string;
  readonly provider: string;
  /** Whether it thinks before it answers. */
  readonly reasoning: boolean;
  readonly hostedTools: boolean;
}

export interface Watched {
  /** Whether the text is kept, so that another target can continue it. */
  readonly keepsText: boolean;
  /** Removes the event with the usage, because the client did not ask for it. */
  readonly takesUsageOut: boolean;
  /** Removes the operator's secrets from the errors inside of an event that passes. */
  readonly redactErrors: (data: string) => string;
}

export interface TextRequest {
  readonly size: number;
  readonly model: string;
  /** The ids of files of the project. Their content is still to be put into the request. */
  readonly files: ReadonlyArray<NamedId>;
  /** The hint that picks the model of `auto`. */
  readonly hint: ReasoningHint;
  readonly isStreamed: boolean;
  /** The first and the last events of the stream repeat these bytes of the request. */
  readonly repeatedBytes: number;
  /** Whether the client asks for the usage of a stream itself, or always gets it. */
  readonly asksForUsage: () => boolean;
  /** Whether another target may continue a part of the answer. */
  readonly isContinuable: () => boolean;
  /** Whether a target of the same protocol may refuse it as it is, because another protocol's answers are in it. */
  readonly mustTranslate: boolean;
  /**
   * What a target of the same protocol cannot do; null if it can do all.
   * @param isStrict whether nothing may be left out
   */
  readonly unsupportedBy: (target: NativeTarget, isStrict: () => boolean) => Unsupported | null;
  /** The changed request. All other bytes are as they came. */
  readonly changed: (changes: RequestChanges) => WrittenRequest;
  /** Reads one attempt's stream, which passes as it comes. */
  readonly watch: (watched: Watched) => StreamInterpreter;
  /**
   * Parses the request for targets of another protocol.
   * @param longTexts takes the long texts out, to be put into the body that is written; missing if they are to stay
   * @returns what the neutral form cannot express, or a failure for a body with too many values
   */
  readonly parse: (maxValues: number, longTexts?: LongTexts) => Promise<E.Either<Unsupported | Failure, ParsedRequest>>;
  /** Creates the writer of a streamed answer that comes in another protocol. Its events are in order. */
  readonly createWriter: (options: WriterOptions) => AnswerWriter;
  /**
   * The events of a stream that fails before its first content. Missing if the form of errors has them.
   * @param model its name, which no provider says
   */
  readonly failedStream?: (model: string, error: JsonObject) => string;
  /** Writes an answer that came in another protocol. Its calls are those of `withTakableCalls`. */
  readonly writeWhole: (answer: Answer, options: WriterOptions) => Buffer;
}

export interface ParsedRequest {
  readonly conversation: Conversation;
  readonly tools: ClientTools;
  /** Pointers to what only offers or tunes, and is ignored. */
  readonly ignored: ReadonlyArray<string>;
}

interface ProviderHalf {
  /** Writes a request, or says what the protocol or the model cannot express. */
  readonly write: (conversation: Conversation, model: TargetModel) => E.Either<Unsupported, WrittenRequest>;
  readonly createReader: (from: TargetModel) => AnswerReader;
  /** Reads the answer; null if it cannot be read. */
  readonly readWhole: (body: Buffer, parsed: JsonObject, from: TargetModel) => Answer | null;
  /** Whether it has no way to continue an answer whose beginning is the last message. Default: it has. */
  readonly cannotContinue?: boolean;
}

export interface WrittenRequest {
  readonly body: Buffer;
  /** Pointers to what only offers or tunes, and is ignored. */
  readonly ignored: ReadonlyArray<string>;
}
