import * as E from 'fp-ts/lib/Either.js';
import { openAiErrors } from '#exchange/error-form.ts';
import { continueRead } from '#gateway/framing/json-request.ts';
import type { TextProtocol, TextRequest } from '#gateway/protocols/protocol.ts';
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
  client: {
    headers: [],
    askingHeaders: [],
    read: (bytes, maxValues) =>
      continueRead(readChatRequest(bytes, maxValues), (request) => E.right(textRequestOf(request))),
    errors: openAiErrors,
  },
  provider: { write: writeChat, createReader: () => new ChatAnswerReader(), readWhole: readChatAnswer },
};

function textRequestOf(request: ChatRequest): TextRequest {
  return {
    size: request.bytes.length,
    model: request.model,
    hint: request.hint,
    isStreamed: request.stream,
    asksForUsage: () => asksForUsage(request),
    isContinuable: () => isContinuable(request),
    mustTranslate: false,
    unsupportedBy: () => null,
    changed: ({ target: { model }, asksUsage, continueFrom }) => ({
      body: chatBody(request, { model, asksUsage, continueFrom }),
      ignored: [],
    }),
    watch: ({ keepsText, takesUsageOut }) => new ChatStreamInterpreter(request.choices, keepsText, takesUsageOut),
    parse: (maxValues) => parseChat(request.bytes, maxValues),
    createWriter: (options) => new ChatAnswerWriter({ ...options, asksForUsage: asksForUsage(request) }),
    writeWhole: writeChatAnswer,
  };
}
