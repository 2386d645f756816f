import * as E from 'fp-ts/lib/Either.js';
import { anthropicErrors } from '#exchange/error-form.ts';
import { continueRead } from '#gateway/framing/json-members.ts';
import { sseEvent } from '#gateway/framing/sse-event.ts';
import type { TextProtocol, TextRequest } from '#gateway/protocols/protocol.ts';
import { MessagesAnswerReader, readMessagesAnswer } from './messages-answer-reader.ts';
import { MessagesAnswerWriter, writeMessagesAnswer } from './messages-answer-writer.ts';
import { isContinuable, messagesBody } from './messages-body.ts';
import { type MessagesRequest, readMessagesRequest } from './messages-request.ts';
import { MessagesStream } from './messages-stream.ts';
import { parseMessages } from './parse-messages.ts';
import { protocolName } from './thinking.ts';
import { writeMessages } from './write-messages.ts';

/** https://docs.anthropic.com/en/api/messages */
export const anthropicMessages: TextProtocol = {
  name: protocolName,
  requiredMember: 'content',
  path: () => '/messages',
  client: {
    headers: ['anthropic-version', 'anthropic-beta'],
    askingHeaders: ['anthropic-beta'],
    read: (bytes, maxValues) =>
      continueRead(readMessagesRequest(bytes, maxValues, true), (request) => E.right(textRequestOf(request))),
    errors: anthropicErrors,
    signOfLife: sseEvent('ping', '{"type":"ping"}'),
    hasArgumentsAsObjects: true,
  },
  provider: { write: writeMessages, createReader: () => new MessagesAnswerReader(), readWhole: readMessagesAnswer },
};

function textRequestOf(request: MessagesRequest): TextRequest {
  return {
    size: request.bytes.length,
    model: request.model,
    files: [],
    hint: 'balanced',
    isStreamed: request.isStreamed,
    repeatedBytes: 0,
    asksForUsage: () => true,
    isContinuable: () => isContinuable(request),
    mustTranslate: request.hasForeignTurns,
    unsupportedBy: () => null,
    changed: ({ target: { model }, continueFrom }) => ({
      body: messagesBody(request, model, continueFrom),
      ignored: [],
    }),
    watch: ({ keepsText }) => new MessagesStream(keepsText),
    parse: (maxValues, longTexts) => parseMessages(request.bytes, maxValues, longTexts),
    createWriter: (options) => new MessagesAnswerWriter(options),
    writeWhole: writeMessagesAnswer,
  };
}
