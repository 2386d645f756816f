import { hash } from 'node:crypto';
import * as E from 'fp-ts/lib/Either.js';
import type { Failure } from '#domain/shared/failure.ts';
import { asksForUsage } from '#gateway/chat/chat-body.ts';
import { type ChatRequest, readChatRequest, readJsonRequest } from '#gateway/chat/chat-request.ts';
import { type LocalAnswer, LocalTransport } from '#gateway/transport/local-transport.ts';
import type { Transport, UpstreamRequest } from '#gateway/transport/transport.ts';
import { briefMember, briefValue, wantedNames } from '#gateway/wire/json-members.ts';
import { isObject } from '#gateway/wire/json-value.ts';
import type { Json, JsonObject } from '#shared/json/json.ts';
import {
  type Provider,
  type ProviderChat,
  type ProviderRequest,
  type ProviderSpeech,
  type ProviderTranscription,
  type UnsupportedRequest,
  unknownFormat,
} from './provider.ts';
import { toneWav } from './tone-wav.ts';
import { wavHeaderBytes } from './wav-header.ts';

/** Says so in every answer: nobody shall take it for a model. */
export const sandboxModel = 'switchyard-sandbox';

/** A fixed time: the same request gives the same answer. */
const created = 1_767_225_600;

/** OpenAI's. What is not `pcm` is answered as WAV: its content type says so. */
const speechFormats = ['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'];
const transcriptFormats = ['json', 'text', 'srt', 'vtt', 'verbose_json'];

/** Answers by itself, the same to the same request: for a first run, for tests, and for tours without an account. */
export class Sandbox implements Provider {
  readonly name: string;
  readonly transport: Transport = new LocalTransport(answer);

  constructor(name: string) {
    this.name = name;
  }

  chat({ body, streams }: ProviderChat): ProviderRequest {
    return { request: { path: 'chat', headers: [], body, streams }, translator: null };
  }

  speech({ body, fields }: ProviderSpeech): ProviderRequest | UnsupportedRequest {
    const { responseFormat: format } = fields;
    if (format !== null && !speechFormats.includes(format)) return unknownFormat(speechFormats);
    return { request: { path: 'speech', headers: [], body, streams: true }, translator: null };
  }

  transcription({ body, streams, fields, fileBytes }: ProviderTranscription): ProviderRequest | UnsupportedRequest {
    const format = fields.findLast(([name]) => name === 'response_format')?.[1] ?? 'json';
    if (!transcriptFormats.includes(format)) return unknownFormat(transcriptFormats);
    // It cannot hear, so it says how much audio it got, which is the same every time.
    const path = `transcription ${format} ${streams ? 'stream' : 'whole'} ${fileBytes}`;
    return { request: { path, headers: [], body, streams }, translator: null };
  }
}

async function answer({ path, body }: UpstreamRequest): Promise<LocalAnswer> {
  const [operation, format = 'json', way, bytes] = path.split(' ');
  if (operation === 'transcription') return transcription(format, way === 'stream', Number(bytes));
  const json = body as Buffer;
  return operation === 'chat' ? chat(taken(await readChatRequest(json, noLimit))) : speech(json);
}

/** What comes here was held to the limits of the gateway before. */
const noLimit = Number.POSITIVE_INFINITY;

function taken<Request>(request: E.Either<Failure, Request>): Request {
  if (E.isLeft(request)) throw new Error(request.left.detail);
  return request.right;
}

function chat(request: ChatRequest): LocalAnswer {
  const asked = lastText(request);
  const words = `This is the Switchyard sandbox and no model. You said: ${repeated(asked)}`.split(/(?<= )/);
  const id = `chatcmpl-sandbox-${hash('sha256', request.bytes).slice(0, 24)}`;
  const choices = choicesOf(request);
  const usage = { prompt_tokens: wordsIn(asked), completion_tokens: words.length * choices.length };
  const counted = { ...usage, total_tokens: usage.prompt_tokens + usage.completion_tokens };
  const common = { id, created, model: sandboxModel, system_fingerprint: 'sandbox' };
  if (request.stream) return events(chunks(common, words, choices, asksForUsage(request) ? counted : null));
  const message = { role: 'assistant', content: words.join(''), refusal: null };
  const said = choices.map((index) => ({ index, message, logprobs: null, finish_reason: 'stop' }));
  return json({ ...common, object: 'chat.completion', choices: said, usage: counted });
}

const choicesAtMost = 128;
/** Characters that are said again at most: as many choices as there may be must fit in memory. */
const repeatedAtMost = 100_000;

function repeated(text: string): string {
  return text.length > repeatedAtMost ? `${text.slice(0, repeatedAtMost).toWellFormed()}…` : text;
}

/** The indexes of the choices that are asked for: all say the same. */
function choicesOf({ choices }: ChatRequest): ReadonlyArray<number> {
  return Array.from({ length: Math.min(Math.floor(choices), choicesAtMost) }, (_, index) => index);
}

function* chunks(
  common: JsonObject,
  words: ReadonlyArray<string>,
  choices: ReadonlyArray<number>,
  usage: JsonObject | null,
): Iterable<JsonObject> {
  const chunk = (said: ReadonlyArray<Json>, more: JsonObject = {}): JsonObject => ({
    ...common,
    object: 'chat.completion.chunk',
    choices: said,
    ...more,
  });
  const choice = (index: number, delta: JsonObject, reason: string | null) =>
    chunk([{ index, delta, logprobs: null, finish_reason: reason }]);
  for (const index of choices) {
    yield choice(index, { role: 'assistant', content: '', refusal: null }, null);
    for (const content of words) yield choice(index, { content }, null);
    yield choice(index, {}, 'stop');
  }
  if (usage !== null) yield chunk([], { usage });
}

/** Of audio, sent at a time. A multiple of three: pieces in base64 then need no filling. */
const pieceBytes = 15 * 1024;

const speechNames = wantedNames({ input: [], response_format: [], stream_format: [] });

async function speech(bytes: Buffer): Promise<LocalAnswer> {
  const { members } = taken(await readJsonRequest(bytes, speechNames, noLimit));
  const said = (name: string) => briefMember(bytes, members, name);
  const [input, format, streamFormat] = [said('input'), said('response_format'), said('stream_format')];
  const isPcm = format === 'pcm';
  const wav = toneWav(wordsIn(typeof input === 'string' ? input : ''));
  const audio = isPcm ? wav.subarray(wavHeaderBytes) : wav;
  if (streamFormat === 'sse') return events(speechEvents(audio), '');
  return { status: 200, contentType: isPcm ? 'audio/pcm' : 'audio/wav', pieces: piecesOf(audio, pieceBytes) };
}

function* speechEvents(audio: Buffer): Iterable<JsonObject> {
  for (const piece of piecesOf(audio, pieceBytes))
    yield { type: 'speech.audio.delta', audio: piece.toString('base64') };
  yield { type: 'speech.audio.done' };
}

function transcription(format: string, streams: boolean, bytes: number): LocalAnswer {
  const text = `This is the Switchyard sandbox and no model. It was given ${bytes} bytes of audio.`;
  if (streams)
    return events(
      [
        { type: 'transcript.text.delta', delta: text },
        { type: 'transcript.text.done', text },
      ],
      '',
    );
  switch (format) {
    case 'text':
      return plain(`${text}\n`, 'text/plain; charset=utf-8');
    case 'srt':
      return plain(`1\n00:00:00,000 --> 00:00:01,000\n${text}\n\n`, 'text/plain; charset=utf-8');
    case 'vtt':
      return plain(`WEBVTT\n\n00:00:00.000 --> 00:00:01.000\n${text}\n\n`, 'text/vtt; charset=utf-8');
    case 'verbose_json':
      return json({
        task: 'transcribe',
        language: 'english',
        duration: 1,
        text,
        segments: [{ id: 0, start: 0, end: 1, text }],
      });
    default:
      return json({ text });
  }
}

function json(value: JsonObject): LocalAnswer {
  return { status: 200, contentType: 'application/json', pieces: [Buffer.from(JSON.stringify(value))] };
}

function plain(text: string, contentType: string): LocalAnswer {
  return { status: 200, contentType, pieces: [Buffer.from(text)] };
}

function events(values: Iterable<JsonObject>, end = 'data: [DONE]\n\n'): LocalAnswer {
  const pieces = function* () {
    for (const value of values) yield Buffer.from(`data: ${JSON.stringify(value)}\n\n`);
    if (end !== '') yield Buffer.from(end);
  };
  return { status: 200, contentType: 'text/event-stream; charset=utf-8', pieces: pieces() };
}

function* piecesOf(bytes: Buffer, size: number): Iterable<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** Bytes of a list of content parts at most that are read: a parser takes long over many values. */
const maxPartsBytes = 256 * 1024;

/** The text of the last message of the user. */
function lastText({ bytes, lastUserContent: content }: ChatRequest): string {
  const said = content === null ? null : briefValue(bytes, content);
  if (typeof said === 'string') return said;
  if (content === null || !Array.isArray(said) || content.end - content.valueStart > maxPartsBytes) return '';
  const parts: ReadonlyArray<Json> = JSON.parse(bytes.toString('utf8', content.valueStart, content.end));
  return parts
    .filter(isObject)
    .map(({ text }) => (typeof text === 'string' ? text : ''))
    .join('');
}

function wordsIn(text: string): number {
  return text.split(/\s+/).filter((word) => word !== '').length;
}
