import * as E from 'fp-ts/lib/Either.js';
import type { Failure, InputError } from '#domain/shared/failure.ts';
import { readForResponse } from '#exchange/body-source.ts';
import { invalidInput } from '#exchange/input-errors.ts';
import { readJsonBytes } from '#exchange/json-body.ts';
import type { Target } from '#gateway/config/catalogue.ts';
import { lastMember, MemberCollector, scalarMember, wantedNames } from '#gateway/framing/json-members.ts';
import { type JsonRequest, readMembers } from '#gateway/framing/json-request.ts';
import { checkText, inputError, spellingFaults } from '#gateway/framing/member-checks.ts';
import { applyEdits, asciiJson, editsOf } from '#gateway/framing/splice.ts';
import { type CallResult, catalogueFailure, type GatewayCall, type GatewayLimits } from '#gateway/gateway-call.ts';
import { forwardedHeaders, type SpeechFields } from '#gateway/providers/provider.ts';
import { relay } from '#gateway/relay/relay.ts';
import { heavyWork } from '#shared/async/event-loop-budget.ts';
import { codePoints } from '#shared/codecs/text.ts';
import type { Json } from '#shared/json/json.ts';
import type { JsonListener } from '#shared/json/json-scanner.ts';
import { AudioResponse } from './audio-response.ts';
import { OtherMembers } from './other-members.ts';
import { prepareRequests } from './prepared-requests.ts';

/** The parts of a speech request that the gateway reads. */
interface SpeechRequest extends JsonRequest {
  /** Null if the voice chooses the model. */
  readonly model: string | null;
  readonly voice: string;
  readonly fields: SpeechFields;
}

/** Answers `POST /v1/audio/speech`. */
export async function createSpeech(call: GatewayCall, limits: GatewayLimits): Promise<CallResult> {
  const bytes = await readJsonBytes(call, { maxBytes: limits.maxJsonBytes, arrival: limits.arrival });
  if (E.isLeft(bytes)) return bytes;
  const request = await readForResponse(call.response, () => readSpeechRequest(bytes.right, limits.maxJsonValues));
  if (E.isLeft(request)) return request;
  const { model, voice, fields } = request.right;
  const route = call.configuration.catalogue.speech(model, voice);
  if (E.isLeft(route)) return E.left(catalogueFailure(route.left));
  const forwarded = forwardedHeaders(call.headers, call.caller.projectId);
  const requests = prepareRequests(call.configuration, route.right, (provider, target) => {
    const spoken = target.voice ?? voice;
    const body = speechBody(request.right, target, spoken);
    return provider.speech?.({ body, model: target.model, voice: spoken, fields, forwarded });
  });
  if ('code' in requests) return E.left(requests);
  const characters = await charactersIn(fields.input);
  const report = await relay(
    { ...call, recordedAs: 'speech', isMadeInSilence: false, input: { isStreamed: true, characters } },
    { route: route.right, requests, responder: new AudioResponse(call, 'bytes') },
  );
  return E.right(report);
}

const sliceLength = 1_000_000;

/** Counts the characters of a text, with a turn of the event loop between two slices. */
async function charactersIn(text: string): Promise<number> {
  let characters = 0;
  for (let start = 0, end = 0; start < text.length; start = end) {
    end = start + sliceLength;
    if (text.charCodeAt(end) >= 0xdc00 && text.charCodeAt(end) <= 0xdfff) end += 1;
    if (start > 0) await heavyWork.take(1);
    characters += codePoints(text.slice(start, end));
  }
  return characters;
}

/** The bytes as they arrived, except for the model and the voice. */
function speechBody({ bytes, members }: SpeechRequest, { model }: Target, voice: string): Buffer {
  const replace = { model: asciiJson(model), voice: asciiJson(voice) };
  return applyEdits(bytes, editsOf(members, { replace, add: ['model'] }));
}

/** The members of a speech request that the gateway reads. */
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
    model: typeof model === 'string' ? model : null,
    voice: id ?? '',
    fields: {
      input: input as string,
      responseFormat: typeof format === 'string' ? format : null,
      speed: typeof speed === 'number' ? speed : null,
      streamFormat: typeof streamFormat === 'string' ? streamFormat : null,
      others: () => listener.others.parse(),
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

/** Collects the members that the gateway reads, and those that only a provider knows. */
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
