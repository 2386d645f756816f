import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, jsonSchema, type LanguageModel, type ModelMessage, stepCountIs, streamText, tool } from 'ai';
import {
  type Ask,
  hoursTool,
  type LoopOptions,
  maxTokens,
  thinkingTokens,
} from '../../../gateway/loops/loop-client.ts';
import { goodKey } from '../../../http/support/fake-service.ts';

// It warns of what it does not send, on the error output.
Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });

/** Options of the SDK's providers, by their names. */
type ProviderOptions = NonNullable<Parameters<typeof generateText>[0]['providerOptions']>;

const reasons = { forceReasoning: true, reasoningEffort: 'low' };

/** The AI SDK, by each of its packages that call the gateway. */
export const aiSdk: Readonly<Record<string, (options: LoopOptions) => Ask>> = {
  '@ai-sdk/openai, chat': (options) => begin(options, openAiAt(options).chat(options.model), { openai: reasons }),
  '@ai-sdk/openai, Responses': (options) => begin(options, openAiAt(options)(options.model), { openai: reasons }),
  '@ai-sdk/openai, Responses that are not stored': (options) =>
    begin(options, openAiAt(options)(options.model), { openai: { ...reasons, store: false } }),
  '@ai-sdk/anthropic': (options) =>
    begin(options, createAnthropic(at(options))(options.model), {
      anthropic: { thinking: { type: 'enabled', budgetTokens: thinkingTokens } },
    }),
  '@ai-sdk/openai-compatible': (options) =>
    begin(options, createOpenAICompatible({ name: 'switchyard', ...at(options) })(options.model), {
      switchyard: { reasoningEffort: 'low' },
    }),
};

function at({ url }: LoopOptions): { readonly baseURL: string; readonly apiKey: string } {
  return { baseURL: `${url}/v1`, apiKey: goodKey };
}

function openAiAt(options: LoopOptions): ReturnType<typeof createOpenAI> {
  return createOpenAI(at(options));
}

function begin({ isStreamed }: LoopOptions, model: LanguageModel, providerOptions: ProviderOptions): Ask {
  const conversation: ModelMessage[] = [];
  return async (question) => {
    conversation.push({ role: 'user', content: question });
    const request = {
      model,
      messages: conversation,
      stopWhen: stepCountIs(5),
      maxRetries: 0,
      maxOutputTokens: maxTokens,
      providerOptions,
      tools: {
        [hoursTool.name]: tool({
          description: hoursTool.description,
          inputSchema: jsonSchema<{ day: string }>(hoursTool.parameters),
          execute: async ({ day }) => hoursTool.run(day),
        }),
      },
    };
    const result = isStreamed ? streamText({ ...request, onError: () => undefined }) : await generateText(request);
    const text = await result.text;
    conversation.push(...(await result.response).messages);
    return text;
  };
}
