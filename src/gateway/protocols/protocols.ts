import { anthropicMessages } from './anthropic-messages/anthropic-messages.ts';
import { openAiChat } from './openai-chat/openai-chat.ts';
import type { TextProtocol, WrittenProtocolName } from './protocol.ts';

const protocols: Readonly<Record<WrittenProtocolName, TextProtocol>> = {
  'openai-chat': openAiChat,
  'anthropic-messages': anthropicMessages,
};

/** Returns a protocol by its name. Only this file knows all that requests are translated to. */
export function protocolNamed(name: WrittenProtocolName): TextProtocol {
  return protocols[name];
}
