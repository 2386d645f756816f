import type { ChatRequest } from './chat-request.ts';
import { type Member, membersOf } from './json-members.ts';
import { isObject } from './json-value.ts';
import { applyEdits, asciiJson, type Edit, editsOf, inPlace } from './splice.ts';

/** What a target is sent instead of what the client sent. */
export interface ChatChanges {
  readonly model: string;
  /** The gateway wants to know the usage of a stream, whether or not the client does. */
  readonly asksUsage: boolean;
  /** The answer's text so far, for the target to go on from; null for a fresh answer. */
  readonly continueFrom: string | null;
}

/** Whether the client asks for the chunk of usage itself. */
export function asksForUsage({ value }: ChatRequest): boolean {
  const { stream_options: options } = value;
  return isObject(options) && options.include_usage === true;
}

/**
 * A chat request's bytes for a target: the model is replaced, `reasoning` taken out where it chose the model, and every
 * other byte is as the client sent it.
 */
export function chatBody(request: ChatRequest, { model, asksUsage, continueFrom }: ChatChanges): Buffer {
  const { bytes, text, members } = request;
  const remove = request.model === 'auto' ? ['reasoning'] : [];
  const open = text.indexOf('{');
  const edits = editsOf(members, open, { replace: { model: asciiJson(model) }, remove });
  const more: Edit[] = [];
  if (asksUsage && !asksForUsage(request)) more.push(...usageEdits(request, open));
  if (continueFrom !== null) more.push(...prefillEdits(text, members, continueFrom));
  return applyEdits(bytes, more.length === 0 ? edits : inPlace([...edits, ...more]));
}

/** Every `stream_options` is given `include_usage`; a request without gets one. */
function usageEdits({ text, members, value }: ChatRequest, open: number): ReadonlyArray<Edit> {
  const replaced = { replace: { stream_options: '{"include_usage":true}' }, add: ['stream_options'] };
  if (!isObject(value.stream_options)) return editsOf(members.filter(isStreamOptions), open, replaced).map(apart);
  return members.filter(isStreamOptions).flatMap(({ valueStart }) => {
    const inside = membersOf(text, valueStart);
    if (inside === null) return [];
    return editsOf(inside, valueStart, { replace: { include_usage: 'true' }, add: ['include_usage'] });
  });
}

/** An object has a model at least: what is put before it needs a comma. */
function apart(edit: Edit): Edit {
  return edit.start === edit.end && !edit.text.endsWith(',') ? { ...edit, text: `${edit.text},` } : edit;
}

function isStreamOptions({ name }: Member): boolean {
  return name === 'stream_options';
}

/** The text so far becomes the last message, said by the assistant, in every `messages` there is. */
function prefillEdits(text: string, members: ReadonlyArray<Member>, continueFrom: string): ReadonlyArray<Edit> {
  const message = `{"role":"assistant","content":${asciiJson(continueFrom)}}`;
  return members
    .filter(({ name }) => name === 'messages')
    .map(({ valueStart, end }) => {
      const close = end - 1;
      const isEmpty = text.slice(valueStart + 1, close).trim() === '';
      return { start: close, end: close, text: isEmpty ? message : `,${message}` };
    });
}

/** Whether another target may go on from a part of the answer: one choice of plain text and nothing else. */
export function isContinuable({ value, choices }: ChatRequest): boolean {
  const { tools, functions, logprobs, response_format: format, modalities, audio } = value;
  const isPlainFormat = format === undefined || format === null || (isObject(format) && format.type === 'text');
  const isSet = (member: unknown) =>
    member !== undefined && member !== null && member !== false && !(Array.isArray(member) && member.length === 0);
  return choices === 1 && isPlainFormat && ![tools, functions, logprobs, audio].some(isSet) && !hasAudio(modalities);
}

function hasAudio(modalities: unknown): boolean {
  return Array.isArray(modalities) && modalities.some((modality) => modality !== 'text');
}
