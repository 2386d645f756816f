import * as E from 'fp-ts/lib/Either.js';
import { codePoints } from '#domain/codecs.ts';
import type { Failure, InputError } from '#domain/failure.ts';
import { invalidInput } from '#operations/input-errors.ts';
import type { Json, JsonObject } from '#src/json.ts';
import { AudioAnswer } from './audio-answer.ts';
import type { Target } from './catalogue.ts';
import { faultOf, type JsonRequest, namesOf, readJsonRequest, textFaults } from './chat-request.ts';
import { forwardedHeaders } from './forwarded-headers.ts';
import { catalogueFailure, type GatewayCall, type GatewayLimits, readJsonBytes } from './gateway-call.ts';
import { isObject } from './json-value.ts';
import { spellingFaults } from './member-spelling.ts';
import { prepareRequests } from './prepared-requests.ts';
import type { SpeechFields } from './provider.ts';
import { relay } from './relay.ts';
import { applyEdits, asciiJson, editsOf } from './splice.ts';

/** A speech request as far as a relay needs to understand it. */
interface SpeechRequest extends JsonRequest {
  /** Null where the voice brings its own. */
  readonly model: string | null;
  readonly voice: string;
  readonly fields: SpeechFields;
}

/** Answers `POST /v1/audio/speech`. @returns why the call was not relayed; null when it was */
export async function speak(call: GatewayCall, limits: GatewayLimits): Promise<Failure | null> {
  const bytes = await readJsonBytes(call, limits);
  if (E.isLeft(bytes)) return bytes.left;
  const request = readSpeechRequest(bytes.right);
  if (E.isLeft(request)) return request.left;
  const { model, voice, fields } = request.right;
  const route = call.served.catalogue.speech(model, voice);
  if (E.isLeft(route)) return catalogueFailure(route.left);
  const forwarded = forwardedHeaders(call.ctx.req.headers, call.caller.projectId);
  const requests = prepareRequests(call.served, route.right, (provider, target) => {
    const spoken = target.voice ?? voice;
    const body = speechBody(request.right, target, spoken);
    return provider.speech?.({ body, model: target.model, voice: spoken, fields, forwarded });
  });
  if ('code' in requests) return requests;
  await relay(
    {
      ...requests,
      operation: 'speech',
      caller: call.caller,
      streamed: true,
      characters: codePoints(fields.input),
      startedAt: performance.now(),
      route: route.right,
      client: call.client,
      answering: new AudioAnswer(call.client, 'bytes'),
    },
    call.gateway.means,
  );
  return null;
}

/** The bytes as they came, but for the model and the voice. */
function speechBody({ bytes, text, members }: SpeechRequest, { model }: Target, voice: string): Buffer {
  const replace = { model: asciiJson(model), voice: asciiJson(voice) };
  return applyEdits(bytes, editsOf(members, text.indexOf('{'), { replace, add: ['model'] }));
}

function readSpeechRequest(bytes: Buffer): E.Either<Failure, SpeechRequest> {
  const request = readJsonRequest(bytes);
  if (E.isLeft(request)) return request;
  const { value } = request.right;
  const faults = [
    ...spellingFaults(namesOf(request.right), ['model', 'voice']),
    ...textFaults('/input', value.input),
    ...modelFaults(value),
    ...voiceFaults(value.voice),
  ];
  if (faults.length > 0) return E.left(invalidInput(faults));
  return E.right({
    ...request.right,
    model: typeof value.model === 'string' ? value.model : null,
    voice: voiceIn(value.voice) ?? '',
    fields: {
      input: value.input as string,
      responseFormat: typeof value.response_format === 'string' ? value.response_format : null,
      speed: typeof value.speed === 'number' ? value.speed : null,
      streamFormat: typeof value.stream_format === 'string' ? value.stream_format : null,
      others: Object.fromEntries(Object.entries(value).filter(([name]) => !speechMembers.has(name))),
    },
  });
}

/** OpenAI's own members of a speech request. */
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

function modelFaults({ model }: JsonObject): ReadonlyArray<InputError> {
  return model === undefined || model === null ? [] : textFaults('/model', model);
}

function voiceFaults(voice: Json | undefined): ReadonlyArray<InputError> {
  if (voice === undefined) return [{ pointer: '/voice', message: 'is required' }];
  return voiceIn(voice) === null ? [faultOf('/voice', 'must be a string or an object with an id', voice)] : [];
}

/** A voice is named, or given as an object with its id. */
function voiceIn(voice: Json | undefined): string | null {
  if (typeof voice === 'string') return voice;
  return isObject(voice) && typeof voice.id === 'string' ? voice.id : null;
}
