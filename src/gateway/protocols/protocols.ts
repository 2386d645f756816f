import { anthropicMessages } from './anthropic-messages/anthropic-messages.ts';
import { openAiChat } from './openai-chat/openai-chat.ts';
import type { ProtocolName, TextProtocol } from './protocol.ts';

const protocols: Readonly<Record<ProtocolName, TextProtocol>> = {
  'openai-chat': openAiChat,
  'anthropic-messages': anthropicMessages,
};

/** Returns a protocol by its name. Only this file knows all of them. */
export function protocolNamed(name: ProtocolName): TextProtocol {
  return protocols[name];
}
