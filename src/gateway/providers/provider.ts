import type { ProviderConfiguration } from '#gateway/config/configuration.ts';
import type { StoredBody, Transport, UpstreamRequest } from '#gateway/transport/transport.ts';
import type { JsonObject } from '#shared/json/json.ts';
import { SecretRedactor } from './secret-redactor.ts';

/** What an answer of another language is turned into. */
export interface TranslatedBody {
  readonly contentType: string;
  readonly body: Buffer;
}

/** A chat request for a provider: OpenAI's JSON, with the provider's model in it. */
export interface ProviderChat {
  readonly body: Buffer;
  readonly streams: boolean;
  /** The client's headers that the provider gets, names and values in turn: see `forwardedHeaders`. */
  readonly forwarded: ReadonlyArray<string>;
}

/** A speech request as the client made it, and what it was resolved to. */
export interface ProviderSpeech {
  /** OpenAI's JSON, with the provider's model and voice in it. */
  readonly body: Buffer;
  readonly model: string;
  readonly voice: string;
  readonly fields: SpeechFields;
  readonly forwarded: ReadonlyArray<string>;
}

/** The members of a speech request that a provider of another language needs. */
export interface SpeechFields {
  readonly input: string;
  readonly responseFormat: string | null;
  readonly speed: number | null;
  /** `sse` for events instead of bytes. */
  readonly streamFormat: string | null;
  /**
   * The members that OpenAI does not have: a provider's own settings. Null where the body holds too many values to be
   * written in another form.
   */
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
  /** A body that has the file's part, headers and content as they came, between other bytes. */
  readonly around: (before: Buffer, after: Buffer) => StoredBody;
  readonly forwarded: ReadonlyArray<string>;
}

/** How to read what a provider of another language answers. */
export interface ResponseTranslator {
  /** Turns a whole answer into OpenAI's form; null for one that cannot be read. */
  readonly translate?: (body: Buffer) => TranslatedBody | null;
  /** What goes before bytes that are streamed, and what they are then. */
  readonly audio?: { readonly contentType: string; readonly prefix: Buffer };
}

/** A request for a provider, and how to read what comes back; null where that is in OpenAI's form. */
export interface ProviderRequest {
  readonly request: UpstreamRequest;
  readonly translator: ResponseTranslator | null;
}

/** A request that a provider cannot take, by the fault of one member. */
export interface UnsupportedRequest {
  /** Its name; empty for the whole body. */
  readonly member: string;
  readonly message: string;
}

export function isUnsupportedRequest(asked: ProviderRequest | UnsupportedRequest): asked is UnsupportedRequest {
  return 'member' in asked;
}

/** The refusal of a format that a provider does not have. @param forWhom where others may have it */
export function unknownFormat(known: Iterable<string>, forWhom = ''): UnsupportedRequest {
  const names = Array.from(known, (name) => `"${name}"`).join(', ');
  return { member: 'response_format', message: `must be one of ${names}${forWhom}` };
}

/** What makes calls to one provider: a kind is a file beside this one. What it cannot do it does not have. */
export interface Provider {
  readonly name: string;
  readonly transport: Transport;
  /** Takes what is secret of it out of its refusals; absent where nothing is. */
  readonly redactor?: SecretRedactor;
  readonly chat?: (chat: ProviderChat) => ProviderRequest;
  readonly speech?: (speech: ProviderSpeech) => ProviderRequest | UnsupportedRequest;
  readonly transcription?: (transcription: ProviderTranscription) => ProviderRequest | UnsupportedRequest;
}

/** The headers of every request to a provider, names and values in turn. @param keyHeader with its key; none without one */
export function ownHeaders(
  { headers }: ProviderConfiguration,
  keyHeader: ReadonlyArray<string>,
): ReadonlyArray<string> {
  // Answers are looked at as they come: compressed ones could not be.
  const always = ['user-agent', 'switchyard', 'accept-encoding', 'identity'];
  return [...Object.entries(headers).flat(), ...keyHeader, ...always];
}

/** What keeps the values of a provider's headers from its clients. @param apiKey null where the provider needs none */
export function redactorOf({ headers }: ProviderConfiguration, apiKey: string | null): SecretRedactor {
  return new SecretRedactor([...Object.values(headers), ...(apiKey === null ? [] : [apiKey])]);
}

/**
 * A provider's own headers with those of the client's that it gets, names and values in turn.
 * @param forwarded see `forwardedHeaders`
 */
export function withForwarded(own: ReadonlyArray<string>, forwarded: ReadonlyArray<string>): ReadonlyArray<string> {
  return forwarded.length === 0 ? own : [...own, ...forwarded];
}
