import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { post } from '#application/operations/operation.ts';
import type { Failure, InputError } from '#domain/shared/failure.ts';
import { openAiErrors } from '#exchange/error-form.ts';
import { invalidInput } from '#exchange/input-errors.ts';
import { readJsonBytes } from '#exchange/json-body.ts';
import { turn } from '#exchange/turns.ts';
import { AudioResponse } from '#gateway/audio/audio-response.ts';
import { OtherMembers } from '#gateway/audio/other-members.ts';
import { prepareRequests } from '#gateway/audio/prepared-requests.ts';
import type { ModelTarget } from '#gateway/config/catalogue.ts';
import {
  checkText,
  inputError,
  type JsonRequest,
  lastMember,
  MemberCollector,
  readMembers,
  scalarMember,
  spellingFaults,
  wantedNames,
} from '#gateway/framing/json-members.ts';
import { applyEdits, asciiJson, editsOf } from '#gateway/framing/splice.ts';
import type { GatewayCall } from '#gateway/gateway-call.ts';
import type { SpeechFields } from '#gateway/providers/provider.ts';
import { forwardedHeaders } from '#gateway/relay/requests.ts';
import { currentWorkOwner } from '#shared/async/fair-queue.ts';
import { nullable } from '#shared/codecs/choice.ts';
import { codePoints } from '#shared/codecs/text.ts';
import type { Json } from '#shared/json/json.ts';
import type { JsonListener } from '#shared/json/json-scanner.ts';
import { endpoint } from './endpoint.ts';
import { relayFailures } from './failures.ts';

interface SpeechRequest extends JsonRequest {
  readonly isStreamed: true;
  /** Null if the voice chooses the model. */
  readonly model: string | null;
  readonly voice: string;
  readonly fields: SpeechFields;
  readonly characters: number;
}

export const createSpeech = endpoint({
  about: {
    name: 'create_speech',
    summary: 'Speak a text',
    description:
      'As OpenAI’s. `voice` is an entry of the configuration, by its name or id, or an object with that id; without `model`, or with `auto`, the voice brings its own. Every other member is passed on as it is.',
    group: 'Gateway',
    example: { input: { input: 'Hello', voice: 'alloy' } },
  },
  http: post('/v1/audio/speech'),
  access: { scope: 'gateway:write' },
  input: t.intersection([
    t.type({ input: t.string, voice: t.union([t.string, t.type({ id: t.string })]) }),
    t.partial({
      model: nullable(t.string),
      response_format: nullable(t.string),
      speed: nullable(t.number),
      stream: nullable(t.boolean),
    }),
  ]),
  output: null,
  produces: ['audio/*', 'text/event-stream'],
  failures: relayFailures,
  errors: openAiErrors,
  recordedAs: 'speech',
  read: readSpeech,
  route: (catalogue, { model, voice }) => catalogue.speech(model, voice),
  requests: ({ configuration, headers, caller, input }, route) => {
    const forwarded = forwardedHeaders(headers, caller.projectId);
    return prepareRequests(configuration, route, (provider, target) => {
      const voice = target.voice ?? input.voice;
      const body = speechBody(input, target, voice);
      return provider.speech?.({ body, model: target.model, voice, fields: input.fields, forwarded });
    });
  },
  responder: (call) => new AudioResponse(call, 'bytes'),
});

async function readSpeech(call: GatewayCall): Promise<E.Either<Failure, SpeechRequest>> {
  const { maxJsonBytes: maxBytes, maxJsonValues, arrival } = call.limits;
  const bytes = await readJsonBytes(call, { maxBytes, arrival });
  return E.isLeft(bytes) ? bytes : readSpeechRequest(bytes.right, maxJsonValues);
}

const sliceLength = 1_000_000;

/** Counts characters with a turn of the event loop between two slices. */
async function charactersIn(text: string): Promise<number> {
  let characters = 0;
  for (let start = 0, end = 0; start < text.length; start = end) {
    end = start + sliceLength;
    if (text.charCodeAt(end) >= 0xdc00 && text.charCodeAt(end) <= 0xdfff) end += 1;
    if (start > 0) await turn(currentWorkOwner(), 'body', sliceLength);
    characters += codePoints(text.slice(start, end));
  }
  return characters;
}

/** The body as it arrived, except for the model and the voice. */
function speechBody({ bytes, members }: SpeechRequest, { model }: ModelTarget, voice: string): Buffer {
  const replace = { model: asciiJson(model), voice: asciiJson(voice) };
  return applyEdits(bytes, editsOf(members, { replace, add: ['model'] }));
}

const speechNames = wantedNames(
  { input: [], model: [], response_format: [], speed: [], stream_format: [], voice: ['id'] },
  ['model', 'voice'],
);

async function readSpeechRequest(bytes: Buffer, maxValues: number): Promise<E.Either<Failure, SpeechRequest>> {
  const listener = new SpeechListener(bytes);
  const request = await readMembers(bytes, listener.members, maxValues, listener);
  if (E.isLeft(request)) return request;
  const { members } = request.right;
  const said = (name: string) => scalarMember(bytes, members, name);
  const [input, model, voice] = [said('input'), said('model'), said('voice')];
  const id = voiceIn(request.right, voice);
  const faults = [
    ...spellingFaults(members.otherSpellings, ['model', 'voice']),
    ...checkText('/input', input),
    ...modelFaults(model),
    ...voiceFaults(voice, id),
  ];
  if (faults.length > 0) return E.left(invalidInput(faults));
  const [format, speed, streamFormat] = [said('response_format'), said('speed'), said('stream_format')];
  return E.right({
    ...request.right,
    isStreamed: true,
    model: typeof model === 'string' ? model : null,
    voice: id ?? '',
    characters: await charactersIn(input as string),
    fields: {
      input: input as string,
      responseFormat: typeof format === 'string' ? format : null,
      speed: typeof speed === 'number' ? speed : null,
      streamFormat: typeof streamFormat === 'string' ? streamFormat : null,
      others: () => listener.others.parse(),
    },
  });
}

const speechMembers: ReadonlySet<string> = new Set([
  'input',
  'instructions',
  'model',
  'response_format',
  'speed',
  'stream',
  'stream_format',
  'voice',
]);

class SpeechListener implements JsonListener {
  readonly maxLevel: number;
  readonly members: MemberCollector;
  readonly others: OtherMembers;

  constructor(bytes: Buffer) {
    this.members = new MemberCollector(bytes, speechNames);
    this.others = new OtherMembers(bytes, speechMembers);
    this.maxLevel = this.members.maxLevel;
  }

  begin(level: number, start: number, nameStart: number, nameEnd: number): void {
    this.members.begin(level, start, nameStart, nameEnd);
    this.others.begin(level, start, nameStart, nameEnd);
  }

  end(level: number, end: number): void {
    this.members.end(level, end);
    this.others.end(level, end);
  }
}

function modelFaults(model: Json | undefined): ReadonlyArray<InputError> {
  return model === undefined || model === null ? [] : checkText('/model', model);
}

function voiceFaults(voice: Json | undefined, id: string | null): ReadonlyArray<InputError> {
  if (voice === undefined) return [{ pointer: '/voice', message: 'is required' }];
  return id === null ? [inputError('/voice', 'must be a string or an object with an id', voice)] : [];
}

/** A voice is a name, or an object with an id. */
function voiceIn({ bytes, members }: JsonRequest, voice: Json | undefined): string | null {
  if (typeof voice === 'string') return voice;
  const inside = lastMember(members, 'voice')?.inside ?? null;
  const id = inside === null ? undefined : scalarMember(bytes, inside, 'id');
  return typeof id === 'string' ? id : null;
}
