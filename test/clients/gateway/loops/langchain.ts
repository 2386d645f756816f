import { ChatAnthropic } from '@langchain/anthropic';
import { type BaseMessage, HumanMessage, ToolMessage } from '@langchain/core/messages';
import { ChatOpenAI } from '@langchain/openai';
import {
  type Ask,
  hoursTool,
  type LoopOptions,
  maxTokens,
  thinkingTokens,
} from '../../../gateway/loops/loop-client.ts';
import { goodKey } from '../../../http/support/fake-service.ts';
import { streamedMessage } from '../../support/streamed-message.ts';

/** LangChain, by each of its packages that call the gateway. */
export const langChain: Readonly<Record<string, (options: LoopOptions) => Ask>> = {
  '@langchain/openai, chat': (options) => begin(options, openAi(options, false)),
  '@langchain/openai, Responses': (options) => begin(options, openAi(options, true)),
  '@langchain/anthropic': (options) => begin(options, anthropic(options)),
};

function openAi({ url, model }: LoopOptions, useResponsesApi: boolean): ChatOpenAI {
  return new ChatOpenAI({
    model,
    apiKey: goodKey,
    useResponsesApi,
    // It sends `reasoning` only to models whose names it knows.
    modelKwargs: useResponsesApi ? { reasoning: { effort: 'low' } } : { reasoning_effort: 'low' },
    maxRetries: 0,
    configuration: { baseURL: `${url}/v1` },
  });
}

function anthropic({ url, model }: LoopOptions): ChatAnthropic {
  return new ChatAnthropic({
    model,
    apiKey: goodKey,
    anthropicApiUrl: url,
    maxTokens,
    thinking: { type: 'enabled', budget_tokens: thinkingTokens },
    maxRetries: 0,
  });
}

function begin({ isStreamed }: LoopOptions, model: ChatOpenAI | ChatAnthropic): Ask {
  const { name, description, parameters, run } = hoursTool;
  const bound = model.bindTools([{ type: 'function' as const, function: { name, description, parameters } }]);
  const conversation: BaseMessage[] = [];
  return async (question) => {
    conversation.push(new HumanMessage(question));
    for (;;) {
      const answer = isStreamed ? await streamedMessage(bound, conversation) : await bound.invoke(conversation);
      conversation.push(answer);
      const calls = answer.tool_calls ?? [];
      if (calls.length === 0) return answer.text;
      for (const { id, args } of calls)
        conversation.push(new ToolMessage({ content: run(String(args.day)), tool_call_id: id ?? '' }));
    }
  };
}
