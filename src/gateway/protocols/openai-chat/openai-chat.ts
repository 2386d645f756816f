import * as E from 'fp-ts/lib/Either.js';
import { openAiErrors } from '#exchange/error-form.ts';
import { continueRead } from '#gateway/framing/json-request.ts';
import type { LongTexts } from '#gateway/framing/long-texts.ts';
import { waitingComment } from '#gateway/framing/sse-event.ts';
import type { StreamInterpreter } from '#gateway/framing/stream-interpreter.ts';
import type { Answer } from '#gateway/neutral/answer.ts';
import type { AnswerWriter } from '#gateway/neutral/answer-event.ts';
import type {
  ReasoningHint,
  RequestChanges,
  TextProtocol,
  TextRequest,
  Watched,
  WriterOptions,
  WrittenRequest,
} from '#gateway/protocols/protocol.ts';
import { ChatAnswerReader, readChatAnswer } from './chat-answer-reader.ts';
import { ChatAnswerWriter, writeChatAnswer } from './chat-answer-writer.ts';
import { asksForUsage, chatBody, isContinuable } from './chat-body.ts';
import { type ChatRequest, readChatRequest } from './chat-request.ts';
import { ChatStreamInterpreter } from './chat-stream-interpreter.ts';
import { parseChat } from './parse-chat.ts';
import { writeChat } from './write-chat.ts';

/** Chat completions (https://platform.openai.com/docs/api-reference/chat). */
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
  provider: { write: writeChat, createReader: () => new ChatAnswerReader(), readWhole: readChatAnswer },
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

  unsupportedBy(): null {
    return null;
  }

  changed({ target: { model }, asksUsage, continueFrom }: RequestChanges): WrittenRequest {
    return { body: chatBody(this.#request, { model, asksUsage, continueFrom }), ignored: [] };
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
