import * as E from 'fp-ts/lib/Either.js';
import type { Failure } from '#domain/shared/failure.ts';
import { readJsonRequest, scalarMember, wantedNames } from '#gateway/framing/json-members.ts';
import { readChatRequest } from '#gateway/protocols/openai-chat/chat-request.ts';
import { openAiChat } from '#gateway/protocols/openai-chat/openai-chat.ts';
import {
  type Provider,
  type ProviderRequest,
  type ProviderSpeech,
  type ProviderText,
  type ProviderTranscription,
  type ProviderWhole,
  type UnsupportedRequest,
  unknownFormat,
} from '#gateway/providers/provider.ts';
import type { ProviderKind } from '#gateway/providers/provider-kind.ts';
import {
  eventAnswer,
  jsonAnswer,
  type LocalAnswer,
  LocalTransport,
  textAnswer,
} from '#gateway/transport/local-transport.ts';
import type { Transport, UpstreamRequest } from '#gateway/transport/transport.ts';
import type { JsonObject } from '#shared/json/json.ts';
import { answerChat, wordsIn } from './chat-answer.ts';
import { answerEmbeddings } from './embedding-answer.ts';
import { toneWav } from './tone-wav.ts';

/** OpenAI's formats. Every format except `pcm` is answered as WAV, with the content type of WAV. */
const speechFormats = ['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'];
const transcriptFormats = ['json', 'text', 'srt', 'vtt', 'verbose_json'];

const protocols = [openAiChat] as const;
const callsNoProvider = 'has no effect on the sandbox, which calls no provider';

/** Answers without a provider, for a first run, for tests and for the tour. The same request gives the same answer. */
export const sandbox: ProviderKind = {
  kind: 'sandbox',
  settings: {},
  protocols: () => protocols,
  address: null,
  open: ({ name }) => new Sandbox(name),
  withoutEffect: { baseUrl: callsNoProvider, apiKeyEnv: callsNoProvider, apiKeyHeader: callsNoProvider },
  isSandbox: true,
};

class Sandbox implements Provider {
  readonly name: string;
  readonly protocols = protocols;
  readonly wholePaths = ['/embeddings'] as const;
  readonly transport: Transport = new LocalTransport(answer);

  constructor(name: string) {
    this.name = name;
  }

  text({ body, streams }: ProviderText): UpstreamRequest {
    return { path: 'chat', headers: [], body, streams };
  }

  whole({ path, body }: ProviderWhole): ProviderRequest {
    return { request: { path: path.slice(1), headers: [], body, streams: false }, translator: null };
  }

  speech({ body, fields }: ProviderSpeech): ProviderRequest | UnsupportedRequest {
    const { responseFormat: format } = fields;
    if (format !== null && !speechFormats.includes(format)) return unknownFormat(speechFormats);
    return { request: { path: 'speech', headers: [], body, streams: true }, translator: null };
  }

  transcription({ body, streams, fields, fileBytes }: ProviderTranscription): ProviderRequest | UnsupportedRequest {
    const format = fields.findLast(([name]) => name === 'response_format')?.[1] ?? 'json';
    if (!transcriptFormats.includes(format)) return unknownFormat(transcriptFormats);
    // It cannot transcribe, so it answers the number of bytes of the audio, which is the same every time.
    const path = `transcription ${format} ${streams ? 'stream' : 'whole'} ${fileBytes}`;
    return { request: { path, headers: [], body, streams }, translator: null };
  }
}

async function answer({ path, body }: UpstreamRequest): Promise<LocalAnswer> {
  const [operation, format = 'json', way, bytes] = path.split(' ');
  if (operation === 'transcription') return transcription(format, way === 'stream', Number(bytes));
  const json = body as Buffer;
  if (operation === 'embeddings') return answerEmbeddings(json);
  return operation === 'chat' ? answerChat(taken(await readChatRequest(json, noLimit))) : speech(json);
}

/** No limit here, because the gateway has already checked its limits. */
const noLimit = Number.POSITIVE_INFINITY;

function taken<Request>(request: E.Either<Failure, Request>): Request {
  if (E.isLeft(request)) throw new Error(request.left.detail);
  return request.right;
}

const speechNames = wantedNames({ input: [], response_format: [], stream_format: [] });

async function speech(bytes: Buffer): Promise<LocalAnswer> {
  const { members } = taken(await readJsonRequest(bytes, speechNames, noLimit));
  const said = (name: string) => scalarMember(bytes, members, name);
  const [input, format, streamFormat] = [said('input'), said('response_format'), said('stream_format')];
  const isPcm = format === 'pcm';
  const { header, tones } = toneWav(wordsIn(typeof input === 'string' ? input : ''));
  const pieces = isPcm ? tones : after(header, tones);
  if (streamFormat === 'sse') return eventAnswer(speechEvents(pieces), '');
  return { status: 200, contentType: isPcm ? 'audio/pcm' : 'audio/wav', pieces };
}

function* after(header: Buffer, tones: Iterable<Buffer>): Iterable<Buffer> {
  yield header;
  yield* tones;
}

function* speechEvents(pieces: Iterable<Buffer>): Iterable<JsonObject> {
  for (const piece of pieces) yield { type: 'speech.audio.delta', audio: piece.toString('base64') };
  yield { type: 'speech.audio.done' };
}

function transcription(format: string, streams: boolean, bytes: number): LocalAnswer {
  const text = `This is the Switchyard sandbox and no model. It was given ${bytes} bytes of audio.`;
  if (streams)
    return eventAnswer(
      [
        { type: 'transcript.text.delta', delta: text },
        { type: 'transcript.text.done', text },
      ],
      '',
    );
  switch (format) {
    case 'text':
      return textAnswer(`${text}\n`, 'text/plain; charset=utf-8');
    case 'srt':
      return textAnswer(`1\n00:00:00,000 --> 00:00:01,000\n${text}\n\n`, 'text/plain; charset=utf-8');
    case 'vtt':
      return textAnswer(`WEBVTT\n\n00:00:00.000 --> 00:00:01.000\n${text}\n\n`, 'text/vtt; charset=utf-8');
    case 'verbose_json':
      return jsonAnswer({
        task: 'transcribe',
        language: 'english',
        duration: 1,
        text,
        segments: [segmentOf(text)],
        words: wordsOf(text),
      });
    default:
      return jsonAnswer({ text });
  }
}

/**
 * A segment with every member that OpenAI's reference requires (https://platform.openai.com/docs/api-reference/audio).
 */
function segmentOf(text: string): JsonObject {
  const sampling = { temperature: 0, avg_logprob: 0, compression_ratio: 1, no_speech_prob: 0 };
  return { id: 0, seek: 0, start: 0, end: 1, text, tokens: [], ...sampling };
}

function wordsOf(text: string): ReadonlyArray<JsonObject> {
  const words = text.split(' ');
  return words.map((word, index) => ({ word, start: index / words.length, end: (index + 1) / words.length }));
}
