import * as E from 'fp-ts/lib/Either.js';
import { openAiErrors } from '#exchange/error-form.ts';
import {
  continueRead,
  lastMember,
  type Member,
  type Members,
  scalarMember,
  scalarValue,
} from '#gateway/framing/json-members.ts';
import type { LongTexts } from '#gateway/framing/long-texts.ts';
import { applyEdits, asciiJson, type Edit, editsOf, inPlace } from '#gateway/framing/splice.ts';
import { waitingComment } from '#gateway/framing/sse-event.ts';
import type { StreamInterpreter } from '#gateway/framing/stream-interpreter.ts';
import type { Answer } from '#gateway/neutral/answer.ts';
import type { AnswerWriter } from '#gateway/neutral/answer-event.ts';
import type { Unsupported } from '#gateway/neutral/conversation.ts';
import { leftOutMessage } from '#gateway/protocols/parsing.ts';
import type {
  NativeTarget,
  ReasoningHint,
  RequestChanges,
  TextProtocol,
  TextRequest,
  Watched,
  WriterOptions,
  WrittenRequest,
} from '#gateway/protocols/protocol.ts';
import type { Json } from '#shared/json/json.ts';
import { ChatAnswerReader, readChatAnswer } from './chat-answer-reader.ts';
import { ChatAnswerWriter, writeChatAnswer } from './chat-answer-writer.ts';
import { type ChatRequest, readChatRequest } from './chat-request.ts';
import { ChatStreamInterpreter } from './chat-stream-interpreter.ts';
import { parseChat } from './parse-chat.ts';
import { writeChat } from './write-chat.ts';

/** https://platform.openai.com/docs/api-reference/chat */
export const openAiChat: TextProtocol = {
  name: 'openai-chat',
  requiredMember: 'choices',
  path: () => '/chat/completions',
  client: {
    headers: [],
    askingHeaders: [],
    read: (bytes, maxValues) =>
      continueRead(readChatRequest(bytes, maxValues), (request) => E.right(new ChatTextRequest(request))),
    errors: openAiErrors,
    signOfLife: waitingComment,
    hasArgumentsAsObjects: false,
  },
  provider: { write: writeChat, createReader: (target) => new ChatAnswerReader(target), readWhole: readChatAnswer },
};

class ChatTextRequest implements TextRequest {
  readonly size: number;
  readonly model: string;
  readonly files: ChatRequest['files'];
  readonly hint: ReasoningHint;
  readonly isStreamed: boolean;
  readonly mustTranslate = false;
  readonly repeatedBytes = 0;
  readonly #request: ChatRequest;

  constructor(request: ChatRequest) {
    this.size = request.bytes.length;
    this.model = request.model;
    this.files = request.files;
    this.hint = request.hint;
    this.isStreamed = request.stream;
    this.#request = request;
  }

  asksForUsage(): boolean {
    return asksForUsage(this.#request);
  }

  isContinuable(): boolean {
    return isContinuable(this.#request);
  }

  unsupportedBy(_target: NativeTarget, isStrict: () => boolean): Unsupported | null {
    const [pointer] = this.#request.ownDetails.pointers;
    return pointer === undefined || !isStrict() ? null : { pointer, message: leftOutMessage };
  }

  changed(changes: RequestChanges): WrittenRequest {
    return { body: chatBody(this.#request, changes), ignored: this.#request.ownDetails.pointers };
  }

  watch({ keepsText, takesUsageOut }: Watched): StreamInterpreter {
    return new ChatStreamInterpreter(this.#request.choices, keepsText, takesUsageOut);
  }

  parse(maxValues: number, longTexts?: LongTexts): ReturnType<TextRequest['parse']> {
    return parseChat(this.#request.bytes, maxValues, longTexts);
  }

  createWriter(options: WriterOptions): AnswerWriter {
    return new ChatAnswerWriter({ ...options, asksForUsage: this.asksForUsage() });
  }

  writeWhole(answer: Answer, options: WriterOptions): Buffer {
    return writeChatAnswer(answer, options);
  }
}

export function asksForUsage({ bytes, members }: ChatRequest): boolean {
  const inside = lastMember(members, 'stream_options')?.inside ?? null;
  return inside !== null && scalarMember(bytes, inside, 'include_usage') === true;
}

/**
 * The body for a target of the same protocol: the model is replaced, `reasoning` is removed if it chose the model,
 * reasoning that the gateway wrote for another protocol is removed, states are cut out of the ids of calls, and every
 * other byte is unchanged.
 */
function chatBody(request: ChatRequest, { target: { model }, asksUsage, continueFrom }: RequestChanges): Buffer {
  const { bytes, members, callIdEdits } = request;
  const replace = { model: asciiJson(model) };
  const edits = editsOf(members, request.model === 'auto' ? { replace, remove: ['reasoning'] } : { replace });
  const more: Edit[] = [...callIdEdits, ...request.ownDetails.edits];
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

/** Separates an edit. The object has at least a model, so a member before it needs a comma. */
function apart(edit: Edit): Edit {
  return edit.start === edit.end && !edit.text.endsWith(',') ? { ...edit, text: `${edit.text},` } : edit;
}

/** The text so far becomes the assistant's last message in every `messages`. */
function prefillEdits({ found }: Members, continueFrom: string): ReadonlyArray<Edit> {
  const message = `{"role":"assistant","content":${asciiJson(continueFrom)}}`;
  return found
    .filter(({ name }) => name === 'messages')
    .map(({ end, size }) => ({ start: end - 1, end: end - 1, text: size === 0 ? message : `,${message}` }));
}

/** True for only one choice of plain text. */
function isContinuable({ bytes, members, choices }: ChatRequest): boolean {
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

/** Maximum size of the member. There are two modalities. */
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
