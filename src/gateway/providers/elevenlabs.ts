import { randomUUID } from 'node:crypto';
import { audioSecondsIn } from '#gateway/neutral/provider-report.ts';
import { isObject, type Json, type JsonObject } from '#shared/json/json.ts';
import { HttpProvider, ownHeaders } from './http-provider.ts';
import {
  type Provider,
  type ProviderRequest,
  type ProviderSpeech,
  type ProviderTranscription,
  type ResponseTranslator,
  type SpeechFields,
  type TranslatedBody,
  type UnsupportedRequest,
  unknownFormat,
} from './provider.ts';
import type { Opening, ProviderAddress, ProviderKind } from './provider-kind.ts';
import { wavHeader } from './wav-header.ts';

const address: ProviderAddress = {
  baseUrl: 'https://api.elevenlabs.io/v1',
  paths: ['/text-to-speech/…/stream', '/speech-to-text'],
};

/** ElevenLabs through its own API: speech and transcription, translated from OpenAI's and back. */
export const elevenLabs: ProviderKind = {
  kind: 'elevenlabs',
  settings: {},
  protocols: () => [],
  address,
  open: (opening) => new ElevenLabs(opening),
  // The path of a request has the voice.
  checkVoice: checkPathSegment,
};

/** ElevenLabs' names for OpenAI's formats of speech, and their content types. It has no others. */
const audioFormats: ReadonlyMap<
  string,
  { readonly outputFormat: string; readonly audio: ResponseTranslator['audio'] }
> = new Map([
  ['mp3', { outputFormat: 'mp3_44100_128', audio: { contentType: 'audio/mpeg', prefix: Buffer.alloc(0) } }],
  ['opus', { outputFormat: 'opus_48000_64', audio: { contentType: 'audio/opus', prefix: Buffer.alloc(0) } }],
  ['pcm', { outputFormat: 'pcm_24000', audio: { contentType: 'audio/pcm', prefix: Buffer.alloc(0) } }],
  // Samples without a header. The gateway adds the header, so it can stream them.
  ['wav', { outputFormat: 'pcm_24000', audio: { contentType: 'audio/wav', prefix: wavHeader(24_000, null) } }],
]);

/** Maximum length of a text, far more than ElevenLabs accepts. A longer one takes long to escape. */
const maxInputCharacters = 1_000_000;

const transcriptFormats = ['json', 'text', 'srt', 'vtt', 'verbose_json'] as const;
type TranscriptFormat = (typeof transcriptFormats)[number];

class ElevenLabs extends HttpProvider implements Provider {
  readonly #headers: ReadonlyArray<string>;

  constructor(opening: Opening) {
    super(opening, address);
    const { configuration, apiKey } = opening;
    const keyHeader = apiKey === null ? [] : [configuration.apiKeyHeader ?? 'xi-api-key', apiKey];
    this.#headers = ownHeaders(configuration.headers, keyHeader);
  }

  speech({ model, voice, fields, forwarded }: ProviderSpeech): ProviderRequest | UnsupportedRequest {
    const format = audioFormats.get(fields.responseFormat ?? 'mp3');
    if (format === undefined) {
      return unknownFormat(audioFormats.keys(), ' with this voice');
    }
    if (fields.input.length > maxInputCharacters) {
      return { member: 'input', message: `must have at most ${maxInputCharacters} characters with this voice` };
    }
    const others = fields.others();
    if (others === null) return { member: '', message: 'has more settings than this voice supports' };
    const refused = outsideCatalogue(Object.keys(others)) ?? unsafeVoice(voice);
    if (refused !== null) return refused;
    if (fields.streamFormat === 'sse') return { member: 'stream_format', message: 'must be "audio" with this voice' };
    const path = `/text-to-speech/${encodeURIComponent(voice)}/stream`;
    return {
      request: {
        path: this.pathTo(path, `?output_format=${format.outputFormat}`),
        headers: [...this.#headers, 'content-type', 'application/json', 'accept', '*/*', ...forwarded],
        body: Buffer.from(JSON.stringify({ ...settingsIn(others, fields.speed), text: fields.input, model_id: model })),
        streams: true,
      },
      translator: format.audio === undefined ? null : { audio: format.audio },
    };
  }

  transcription(asked: ProviderTranscription): ProviderRequest | UnsupportedRequest {
    const { model, fields, around, forwarded } = asked;
    const format = last(fields, 'response_format') ?? 'json';
    if (!isTranscriptFormat(format)) {
      return unknownFormat(transcriptFormats, ' with this model');
    }
    const refused = outsideCatalogue(fields.map(([name]) => name));
    if (refused !== null) return refused;
    const boundary = `switchyard-${randomUUID()}`;
    const texts = [
      ['model_id', model],
      ...translatedFields(fields),
      ...(format === 'srt' || format === 'vtt' ? [['additional_formats', '[{"format":"srt"}]'] as const] : []),
    ];
    const before = texts.map(([name, text]) => textPart(boundary, name ?? '', text ?? '')).join('');
    const type = ['content-type', `multipart/form-data; boundary=${boundary}`, 'accept', 'application/json'];
    return {
      request: {
        path: this.pathTo('/speech-to-text'),
        headers: [...this.#headers, ...type, ...forwarded],
        body: around(Buffer.from(`${before}--${boundary}\r\n`), Buffer.from(`\r\n--${boundary}--\r\n`)),
        streams: false,
      },
      translator: { translate: (_body, parsed) => translated(parsed, format) },
    };
  }
}

/** Members that choose another model, make ElevenLabs fetch a file, or send the answer elsewhere. */
const unsafeMember = /^(?:model_id|cloud_storage_url|source_url|webhook(?:_.*)?)$/is;

/** The refusal of members of ElevenLabs' API that would bypass the catalogue. */
function outsideCatalogue(names: ReadonlyArray<string>): UnsupportedRequest | null {
  const member = names.find((name) => unsafeMember.test(name));
  return member === undefined ? null : { member, message: 'is not supported here: leave it out' };
}

const maxSegmentCharacters = 200;

/**
 * The text becomes one segment of a path. Percent-encoding is not enough: it does not change `..`, and many servers
 * decode `%2F` before routing.
 */
function checkPathSegment(text: string): string | null {
  if (text === '' || text.length > maxSegmentCharacters) return `must have 1 to ${maxSegmentCharacters} characters`;
  if (/^[.\s]+$/.test(text)) return 'must not be made of dots';
  if (!text.isWellFormed() || /[\p{Cc}\u2028\u2029/\\%?#;]/u.test(text)) {
    return 'must hold no control character and none of / \\ % ? # ;';
  }
  return null;
}

function unsafeVoice(voice: string): UnsupportedRequest | null {
  const fault = checkPathSegment(voice);
  return fault === null ? null : { member: 'voice', message: fault };
}

/** The settings. ElevenLabs' own pass through, like all unknown members. The speed is a setting of the voice. */
function settingsIn(others: JsonObject, speed: SpeechFields['speed']): JsonObject {
  if (speed === null) return others;
  const { voice_settings: settings } = others;
  return { ...others, voice_settings: { ...(isObject(settings) ? settings : {}), speed } };
}

/** The fields without those that only OpenAI has. */
function translatedFields(fields: ProviderTranscription['fields']): ReadonlyArray<readonly [string, string]> {
  const ours = new Set([
    'model',
    'response_format',
    'stream',
    'prompt',
    'language',
    'timestamp_granularities[]',
    'include[]',
  ]);
  const language = last(fields, 'language');
  return [
    ...(language === null ? [] : [['language_code', language] as const]),
    ['timestamps_granularity', 'word'] as const,
    // ElevenLabs' own settings pass through, like all unknown fields.
    ...fields.filter(([name]) => !ours.has(name) && !/[\r\n"]/.test(name)),
  ];
}

function textPart(boundary: string, name: string, text: string): string {
  return `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${text}\r\n`;
}

function last(fields: ProviderTranscription['fields'], name: string): string | null {
  return fields.findLast(([known]) => known === name)?.[1] ?? null;
}

function isTranscriptFormat(format: string): format is TranscriptFormat {
  return transcriptFormats.some((known) => known === format);
}

function translated(answer: JsonObject | null, format: TranscriptFormat): TranslatedBody | null {
  if (typeof answer?.text !== 'string') return null;
  const { text, language_code: language = null } = answer;
  switch (format) {
    case 'json':
      return json({ text });
    case 'text':
      return plain(`${text}\n`, 'text/plain; charset=utf-8');
    case 'verbose_json': {
      const words = wordsIn(answer.words);
      const duration = audioSecondsIn(answer) ?? words.at(-1)?.end ?? 0;
      return json({ task: 'transcribe', language, duration, text, words });
    }
    case 'srt':
    case 'vtt': {
      const subtitles = subtitlesIn(answer.additional_formats);
      if (subtitles === null) return null;
      if (format === 'srt') return plain(subtitles, 'text/plain; charset=utf-8');
      return plain(
        `WEBVTT\n\n${subtitles.replace(/(\d{2}:\d{2}:\d{2}),(\d{3})/g, '$1.$2')}`,
        'text/vtt; charset=utf-8',
      );
    }
  }
}

type Word = { readonly word: string; readonly start: number; readonly end: number };

function wordsIn(words: Json | undefined): ReadonlyArray<Word> {
  const all = Array.isArray(words) ? (words as ReadonlyArray<Json>) : [];
  return all
    .filter(isObject)
    .flatMap(({ type, text, start, end }) =>
      type === 'word' && typeof text === 'string' && typeof start === 'number' && typeof end === 'number'
        ? [{ word: text, start, end }]
        : [],
    );
}

function subtitlesIn(formats: Json | undefined): string | null {
  const all = Array.isArray(formats) ? (formats as ReadonlyArray<Json>) : [];
  const found = all.filter(isObject).find(({ requested_format: asked }) => asked === 'srt');
  if (typeof found?.content !== 'string') return null;
  return found.is_base64_encoded === true ? Buffer.from(found.content, 'base64').toString('utf8') : found.content;
}

function json(value: Json): TranslatedBody {
  return { contentType: 'application/json', body: Buffer.from(JSON.stringify(value)) };
}

function plain(text: string, contentType: string): TranslatedBody {
  return { contentType, body: Buffer.from(text) };
}
