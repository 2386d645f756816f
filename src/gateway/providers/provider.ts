import type { StreamInterpreter } from '#gateway/framing/stream-interpreter.ts';
import type { Tokens } from '#gateway/neutral/consumption.ts';
import type { ProviderProtocol } from '#gateway/protocols/protocol.ts';
import type { StoredBody, Transport, UpstreamRequest } from '#gateway/transport/transport.ts';
import type { JsonObject } from '#shared/json/json.ts';
import type { SecretRedactor } from './secret-redactor.ts';

/** A provider's answer, translated to OpenAI's form. */
export interface TranslatedBody {
  readonly contentType: string;
  readonly body: Buffer;
  /** What the provider has counted, where the reader of its protocol says it; else `usageIn` reads it. */
  readonly tokens?: Tokens | null;
}

/** A request for a text, in a protocol that the provider speaks, with the provider's model in it. */
export interface ProviderText {
  /** The path below the base URL, which the protocol says. */
  readonly path: string;
  /** The query of the client's request with its question mark, if the client speaks this protocol; else empty. */
  readonly query: string;
  readonly body: Buffer;
  readonly streams: boolean;
  /** The client's headers that the provider gets, names and values in turn: see `forwardedHeaders`. */
  readonly forwarded: ReadonlyArray<string>;
}

/** A request about a response that the provider makes in the background. */
export interface ProviderBackgroundRequest {
  readonly action: 'get' | 'cancel' | 'delete';
  /** The id of the response. */
  readonly id: string;
  /** The query with its question mark; empty without one. */
  readonly query: string;
  readonly streams: boolean;
}

/** A request of an operation that is relayed whole: OpenAI's JSON, with the provider's model in it. */
export interface ProviderWhole {
  /** One of the provider's `wholePaths`. */
  readonly path: string;
  /** The query of the client's request with its question mark; empty without one. */
  readonly query: string;
  readonly body: Buffer;
  readonly forwarded: ReadonlyArray<string>;
}

/** A client's speech request with the resolved model and voice. */
export interface ProviderSpeech {
  /** OpenAI's JSON, with the provider's model and voice in it. */
  readonly body: Buffer;
  readonly model: string;
  readonly voice: string;
  readonly fields: SpeechFields;
  readonly forwarded: ReadonlyArray<string>;
}

/** The members of a speech request for a provider with another API. */
export interface SpeechFields {
  readonly input: string;
  readonly responseFormat: string | null;
  readonly speed: number | null;
  /** `sse` for events instead of bytes. */
  readonly streamFormat: string | null;
  /** Members that OpenAI does not have: a provider's own settings. Null if they are too large to be translated. */
  readonly others: () => JsonObject | null;
}

/** A transcription request: its multipart body, with the provider's model in it, and its fields. */
export interface ProviderTranscription {
  readonly body: StoredBody;
  readonly contentType: string;
  readonly streams: boolean;
  readonly model: string;
  /** The texts of its fields, by name, in order; no file. */
  readonly fields: ReadonlyArray<readonly [string, string]>;
  /** Of the file's content. */
  readonly fileBytes: number;
  /** A body with the unchanged part of the file (headers and content) between other bytes. */
  readonly around: (before: Buffer, after: Buffer) => StoredBody;
  readonly forwarded: ReadonlyArray<string>;
}

/** Translates the answers of a provider with another API or protocol. */
export interface ResponseTranslator {
  /** The member that a whole answer of the provider has, if it differs from that of the client's protocol. */
  readonly requiredMember?: string;
  /** Makes the interpreter of the provider's stream. Missing if the stream has the client's form. */
  readonly interpret?: () => StreamInterpreter;
  /**
   * Translates a complete answer to the client's form.
   * @param parsed its value; null if the answer is not JSON
   * @returns null if it cannot be read
   */
  readonly translate?: (body: Buffer, parsed: JsonObject | null) => TranslatedBody | null;
  /** The prefix of streamed bytes, and the content type of the result. */
  readonly audio?: { readonly contentType: string; readonly prefix: Buffer };
}

/** A request for a provider, and the translator of its answer; null if the answer has OpenAI's form. */
export interface ProviderRequest {
  readonly request: UpstreamRequest;
  readonly translator: ResponseTranslator | null;
}

/** A request that a provider does not support because of one member. */
export interface UnsupportedRequest {
  /** Its name; empty for the whole body. */
  readonly member: string;
  readonly message: string;
}

/** Whether a provider does not support a request. */
export function isUnsupportedRequest(asked: ProviderRequest | UnsupportedRequest): asked is UnsupportedRequest {
  return 'member' in asked;
}

/**
 * The refusal of a format that a provider does not support.
 * @param forWhom the provider or voice, because others may support it
 */
export function unknownFormat(known: Iterable<string>, forWhom = ''): UnsupportedRequest {
  const names = Array.from(known, (name) => `"${name}"`).join(', ');
  return { member: 'response_format', message: `must be one of ${names}${forWhom}` };
}

/** The protocols for texts that a provider speaks. Requests are translated to the first one, unless a target names another. */
export type SpokenProtocols = readonly [ProviderProtocol, ...ProviderProtocol[]];

/**
 * Builds the requests for one provider. Each kind is a file in this folder. A provider lacks the members for operations
 * that it does not support.
 */
export interface Provider {
  readonly name: string;
  readonly transport: Transport;
  /** Removes the provider's secrets from its refusals; absent if it has none. */
  readonly redactor?: SecretRedactor;
  /** Missing if it gives no texts. */
  readonly protocols?: SpokenProtocols;
  /** Whether it runs OpenAI's own tools. Default false. */
  readonly hostedTools?: boolean;
  readonly text?: (text: ProviderText) => UpstreamRequest;
  /** Missing if it makes no responses in the background. */
  readonly backgroundResponse?: (request: ProviderBackgroundRequest) => UpstreamRequest;
  /** The paths, below the base URL, that requests may be relayed to whole: `/embeddings`. */
  readonly wholePaths?: ReadonlyArray<string>;
  readonly whole?: (whole: ProviderWhole) => ProviderRequest;
  readonly speech?: (speech: ProviderSpeech) => ProviderRequest | UnsupportedRequest;
  readonly transcription?: (transcription: ProviderTranscription) => ProviderRequest | UnsupportedRequest;
}
