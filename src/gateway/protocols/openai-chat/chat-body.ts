import { lastMember, type Member, type Members, scalarMember, scalarValue } from '#gateway/framing/json-members.ts';
import { applyEdits, asciiJson, type Edit, editsOf, inPlace } from '#gateway/framing/splice.ts';
import type { Json } from '#shared/json/json.ts';
import type { ChatRequest } from './chat-request.ts';

/** The changes of a client's request for one target. */
export interface ChatChanges {
  readonly model: string;
  /** Asks the provider for the usage of a stream, even if the client does not. */
  readonly asksUsage: boolean;
  /** The answer's text so far, which the target continues; null for a new answer. */
  readonly continueFrom: string | null;
}

/** Whether the client asks for the chunk of usage itself. */
export function asksForUsage({ bytes, members }: ChatRequest): boolean {
  const inside = lastMember(members, 'stream_options')?.inside ?? null;
  return inside !== null && scalarMember(bytes, inside, 'include_usage') === true;
}

/**
 * A chat request's bytes for a target: the model is replaced, `reasoning` is removed if it chose the model, and every
 * other byte is unchanged.
 */
export function chatBody(request: ChatRequest, { model, asksUsage, continueFrom }: ChatChanges): Buffer {
  const { bytes, members } = request;
  const replace = { model: asciiJson(model) };
  const edits = editsOf(members, request.model === 'auto' ? { replace, remove: ['reasoning'] } : { replace });
  const more: Edit[] = [];
  if (asksUsage && !asksForUsage(request)) more.push(...usageEdits(members));
  if (continueFrom !== null) more.push(...prefillEdits(members, continueFrom));
  return applyEdits(bytes, more.length === 0 ? edits : inPlace([...edits, ...more]));
}

/** Sets `include_usage` in every `stream_options`, and adds `stream_options` to a request without it. */
function usageEdits({ open, count, found }: Members): ReadonlyArray<Edit> {
  const options = found.filter(({ name }) => name === 'stream_options');
  const replaced = { replace: { stream_options: '{"include_usage":true}' }, add: ['stream_options'] };
  if (!options.at(-1)?.inside) return editsOf({ open, count, found: options }, replaced).map(apart);
  return options.flatMap(({ inside }) =>
    inside === null ? [] : editsOf(inside, { replace: { include_usage: 'true' }, add: ['include_usage'] }),
  );
}

/** The object has at least a model, so a member before it needs a comma. */
function apart(edit: Edit): Edit {
  return edit.start === edit.end && !edit.text.endsWith(',') ? { ...edit, text: `${edit.text},` } : edit;
}

/** Adds the text so far as the assistant's last message to every `messages`. */
function prefillEdits({ found }: Members, continueFrom: string): ReadonlyArray<Edit> {
  const message = `{"role":"assistant","content":${asciiJson(continueFrom)}}`;
  return found
    .filter(({ name }) => name === 'messages')
    .map(({ end, size }) => ({ start: end - 1, end: end - 1, text: size === 0 ? message : `,${message}` }));
}

/** Whether another target may continue a part of the answer: only one choice of plain text. */
export function isContinuable({ bytes, members, choices }: ChatRequest): boolean {
  const isSet = (name: string) => {
    const member = lastMember(members, name);
    if (member === undefined || isEmptyList(bytes, member)) return false;
    const value = scalarValue(bytes, member);
    return value !== null && value !== false;
  };
  const isPlain = choices === 1 && !['tools', 'functions', 'logprobs', 'audio'].some(isSet);
  return isPlain && isTextFormat(bytes, members) && !hasOtherModality(bytes, members);
}

function isTextFormat(bytes: Buffer, members: Members): boolean {
  const format = lastMember(members, 'response_format');
  if (format === undefined) return true;
  if (format.inside !== null) return scalarMember(bytes, format.inside, 'type') === 'text';
  return scalarValue(bytes, format) === null;
}

/** The most bytes of a list of modalities; there are two. */
const maxModalityBytes = 1_024;

function hasOtherModality(bytes: Buffer, members: Members): boolean {
  const modalities = lastMember(members, 'modalities');
  if (modalities === undefined || !isList(bytes, modalities)) return false;
  const { valueStart, end } = modalities;
  if (end - valueStart > maxModalityBytes) return true;
  const listed = JSON.parse(bytes.toString('utf8', valueStart, end)) as ReadonlyArray<Json>;
  return listed.some((modality) => modality !== 'text');
}

function isEmptyList(bytes: Buffer, member: Member): boolean {
  return member.size === 0 && isList(bytes, member);
}

function isList(bytes: Buffer, { valueStart }: Member): boolean {
  return bytes[valueStart] === 0x5b;
}
