import assert from 'node:assert/strict';
import type { Begin, Conversation, ConversationOptions } from '../../../gateway/matrix/matrix-client.ts';
import { Recorder } from '../../support/recorder.ts';
import { ChatConversation } from './chat-client.ts';
import { MessagesConversation } from './messages-client.ts';
import { ResponsesConversation } from './responses-client.ts';

const sdks: Readonly<Record<string, new (options: ConversationOptions) => Conversation>> = {
  'openai-chat': ChatConversation,
  'openai-responses': ResponsesConversation,
  'anthropic-messages': MessagesConversation,
};

/** Begins conversations of the SDKs, and records them. */
export function recordingClients(suite: string): Begin {
  const recorder = new Recorder(suite);
  return ({ protocol }, options) => {
    const conversation = new (sdks[protocol] ?? assert.fail(protocol))(options);
    const tape = recorder.record(options.name);
    const step = async (act: () => ReturnType<Conversation['ask']>) => {
      const recorded = async () => ({ outcome: await act(), answerId: conversation.answerId });
      return (await tape.step(recorded)).outcome;
    };
    return {
      ask: (question) => step(() => conversation.ask(question)),
      giveResults: (...results) => step(() => conversation.giveResults(...results)),
      get answerId() {
        return conversation.answerId;
      },
    };
  };
}
