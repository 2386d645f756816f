import type { StreamInterpreter } from '#gateway/framing/stream-interpreter.ts';
import type { Tokens } from '#gateway/neutral/consumption.ts';
import type { ProviderProtocol } from '#gateway/protocols/protocol.ts';
import type { StoredBody, Transport, UpstreamRequest } from '#gateway/transport/transport.ts';
import type { JsonObject } from '#shared/json/json.ts';
import type { SecretRedactor } from './secret-redactor.ts';

export interface TranslatedBody {
  readonly contentType: string;
  readonly body: Buffer;
  /** The tokens where the reader of its protocol says them; else `usageIn` reads them. */
  readonly tokens?: Tokens | null;
}

/** A request in a protocol that the provider speaks, with the provider's model. */
export interface ProviderText {
  /** The path of the protocol, below the base URL. */
  readonly path: string;
  /** The query of the client's request with its question mark, if the client speaks this protocol; else empty. */
  readonly query: string;
  readonly body: Buffer;
  readonly streams: boolean;
  /** Forwarded headers as alternating names and values: see `forwardedHeaders`. */
  readonly forwarded: ReadonlyArray<string>;
}

export interface ProviderBackgroundRequest {
  readonly action: 'get' | 'cancel' | 'delete';
  readonly id: string;
  /** The query with its question mark; empty without one. */
  readonly query: string;
  readonly streams: boolean;
}

/** A request in OpenAI's JSON, with the provider's model. */
export interface ProviderWhole {
  /** One of the provider's `wholePaths`. */
  readonly path: string;
  /** The query of the client's request, with its question mark; empty without one. */
  readonly query: string;
  readonly body: Buffer;
  readonly forwarded: ReadonlyArray<string>;
}

export interface ProviderSpeech {
  /** The body in OpenAI's JSON, with the provider's model and voice. */
  readonly body: Buffer;
  readonly model: string;
  readonly voice: string;
  readonly fields: SpeechFields;
  readonly forwarded: ReadonlyArray<string>;
}

export interface SpeechFields {
  readonly input: string;
  readonly responseFormat: string | null;
  readonly speed: number | null;
  /** `sse` for events instead of bytes. */
  readonly streamFormat: string | null;
  /** Members that OpenAI does not have: a provider's own settings. Null if they are too large to be translated. */
  readonly others: () => JsonObject | null;
}

/** The multipart body, with the provider's model, and its fields. */
export interface ProviderTranscription {
  readonly body: StoredBody;
  readonly contentType: string;
  readonly streams: boolean;
  readonly model: string;
  /** The texts in order, without the file. */
  readonly fields: ReadonlyArray<readonly [string, string]>;
  /** The size of the file's content. */
  readonly fileBytes: number;
  /** The unchanged part of the file (headers and content) between other bytes. */
  readonly around: (before: Buffer, after: Buffer) => StoredBody;
  readonly forwarded: ReadonlyArray<string>;
}

export interface ResponseTranslator {
  /** The member of a whole answer, if it differs from that of the client's protocol. */
  readonly requiredMember?: string;
  /** Interprets the stream; missing if it has the client's form. */
  readonly interpret?: () => StreamInterpreter;
  /** @param parsed null if the answer is not JSON @returns null if the answer cannot be read */
  readonly translate?: (body: Buffer, parsed: JsonObject | null) => TranslatedBody | null;
  readonly audio?: { readonly contentType: string; readonly prefix: Buffer };
}

/** The translator is null if the answer has OpenAI's form. */
export interface ProviderRequest {
  readonly request: UpstreamRequest;
  readonly translator: ResponseTranslator | null;
}

export interface UnsupportedRequest {
  /** The member; empty for the whole body. */
  readonly member: string;
  readonly message: string;
}

export function isUnsupportedRequest(asked: ProviderRequest | UnsupportedRequest): asked is UnsupportedRequest {
  return 'member' in asked;
}

/** @param forWhom the provider or voice, because others may support it */
export function unknownFormat(known: Iterable<string>, forWhom = ''): UnsupportedRequest {
  const names = Array.from(known, (name) => `"${name}"`).join(', ');
  return { member: 'response_format', message: `must be one of ${names}${forWhom}` };
}

/** The protocols for texts. Requests are translated to the first one, unless a target names another. */
export type SpokenProtocols = readonly [ProviderProtocol, ...ProviderProtocol[]];

/** Each kind is a file in this folder. A provider lacks the members for operations that it does not support. */
export interface Provider {
  readonly name: string;
  readonly transport: Transport;
  /** The redactor of the provider's refusals; absent if it has no secrets. */
  readonly redactor?: SecretRedactor;
  /** The protocols; missing if it gives no texts. */
  readonly protocols?: SpokenProtocols;
  /** Whether it runs OpenAI's own tools. Default false. */
  readonly hostedTools?: boolean;
  readonly text?: (text: ProviderText) => UpstreamRequest;
  /** Calls for a response in the background; missing if the provider makes none. */
  readonly backgroundResponse?: (request: ProviderBackgroundRequest) => UpstreamRequest;
  /** The paths, below the base URL, that requests may be relayed to whole: `/embeddings`. */
  readonly wholePaths?: ReadonlyArray<string>;
  readonly whole?: (whole: ProviderWhole) => ProviderRequest;
  readonly speech?: (speech: ProviderSpeech) => ProviderRequest | UnsupportedRequest;
  readonly transcription?: (transcription: ProviderTranscription) => ProviderRequest | UnsupportedRequest;
}
