import assert from 'node:assert/strict';
import type { AIMessageChunk, BaseMessage } from '@langchain/core/messages';

/** Adds up the pieces of a message that LangChain streams. */
export async function streamedMessage(
  model: { readonly stream: (conversation: BaseMessage[]) => Promise<AsyncIterable<AIMessageChunk>> },
  conversation: BaseMessage[],
): Promise<AIMessageChunk> {
  let all: AIMessageChunk | null = null;
  for await (const chunk of await model.stream(conversation)) all = all === null ? chunk : all.concat(chunk);
  return all ?? assert.fail('the stream is empty');
}
