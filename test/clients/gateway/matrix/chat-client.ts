import OpenAI from 'openai';
import { type Asked, type Outcome, parsedOrText, type Question } from '../../../gateway/matrix/exchange.ts';
import {
  type Conversation,
  type ConversationOptions,
  cacheControlOf,
  maxTokens,
} from '../../../gateway/matrix/matrix-client.ts';
import { goodKey } from '../../../http/support/fake-service.ts';
import { failedWith } from './failed-with.ts';

type Message = OpenAI.Chat.ChatCompletionMessage & Reasoning;

/** The members of reasoning, which OpenAI's chat completions do not have. */
interface Reasoning {
  readonly reasoning_content?: string;
  readonly reasoning_details?: ReadonlyArray<object>;
}

const reasons: Readonly<Record<string, string>> = { tool_calls: 'tool-calls' };

/** Chat completions, by `openai`. */
export class ChatConversation implements Conversation {
  readonly #client: OpenAI;
  readonly #options: ConversationOptions;
  readonly #messages: OpenAI.Chat.ChatCompletionMessageParam[] = [];
  #request: Partial<OpenAI.Chat.ChatCompletionCreateParams> = {};
  answerId = '';

  constructor(options: ConversationOptions) {
    const { url, fetch } = options;
    this.#options = options;
    this.#client = new OpenAI({ baseURL: `${url}/v1`, apiKey: goodKey, maxRetries: 0, fetch });
  }

  ask({ system, content, tools, schema, thinks }: Question): Promise<Outcome> {
    this.#messages.push({ role: 'system', content: system }, { role: 'user', content: content.map(partOf) });
    this.#request = {
      max_completion_tokens: maxTokens,
      ...(tools.length === 0 ? {} : { tools: tools.map(toolOf) }),
      ...(schema === null ? {} : { response_format: formatOf(schema) }),
      ...(thinks ? { reasoning_effort: 'low' as const } : {}),
    };
    return this.#send();
  }

  giveResults(results: ReadonlyMap<string, string>, saidBefore: string): Promise<Outcome> {
    if (saidBefore !== '') this.#messages.push({ role: 'user', content: saidBefore });
    for (const [id, content] of results) this.#messages.push({ role: 'tool', tool_call_id: id, content });
    return this.#send();
  }

  async #send(): Promise<Outcome> {
    const request = { ...this.#request, model: this.#options.model, messages: this.#messages };
    let text = '';
    try {
      const completion = this.#options.isStreamed
        ? await this.#streamed(request, (piece) => {
            text += piece;
          })
        : await this.#client.chat.completions.create({ ...request, stream: false });
      return this.#outcomeOf(completion);
    } catch (error) {
      return failedWith(error, text);
    }
  }

  /** The helper of the SDK knows no reasoning, so that is gathered from the chunks, as other clients do. */
  async #streamed(
    request: Omit<OpenAI.Chat.ChatCompletionCreateParams, 'stream'>,
    onText: (piece: string) => void,
  ): Promise<OpenAI.Chat.ChatCompletion> {
    let thought = '';
    const details: object[] = [];
    const stream = this.#client.chat.completions.stream({ ...request, stream_options: { include_usage: true } });
    stream.on('content', onText);
    stream.on('chunk', ({ choices: [choice] }) => {
      const { reasoning_content: piece = '', reasoning_details: more = [] } = (choice?.delta ?? {}) as Reasoning;
      thought += piece;
      details.push(...more);
    });
    const completion = await stream.finalChatCompletion();
    const message = completion.choices[0]?.message;
    const reasoning = {
      ...(thought === '' ? {} : { reasoning_content: thought }),
      ...(details.length === 0 ? {} : { reasoning_details: details }),
    };
    return Object.assign(completion, {
      choices: [{ ...completion.choices[0], message: { ...message, ...reasoning } }],
    });
  }

  #outcomeOf({ id, choices, usage }: OpenAI.Chat.ChatCompletion): Outcome {
    const [choice] = choices;
    if (choice === undefined) throw new Error('The answer has no choice');
    const message: Message = choice.message;
    const calls = (message.tool_calls ?? []).filter((call) => call.type === 'function');
    this.answerId = id;
    this.#messages.push({
      role: 'assistant',
      content: message.content,
      ...(calls.length === 0 ? {} : { tool_calls: calls.map(sentBack) }),
      ...(message.reasoning_content === undefined ? {} : { reasoning_content: message.reasoning_content }),
      ...(message.reasoning_details === undefined ? {} : { reasoning_details: message.reasoning_details }),
    } as OpenAI.Chat.ChatCompletionMessageParam);
    return {
      kind: 'answer',
      thought: message.reasoning_content ?? '',
      text: message.content ?? '',
      calls: calls.map((call) => ({
        id: call.id,
        name: call.function.name,
        given: parsedOrText(call.function.arguments),
      })),
      reason: reasons[choice.finish_reason] ?? choice.finish_reason,
      tokens: {
        input: usage?.prompt_tokens ?? -1,
        cached: usage?.prompt_tokens_details?.cached_tokens ?? -1,
        output: usage?.completion_tokens ?? -1,
      },
    };
  }
}

/** A call without what the SDK adds. */
function sentBack(call: OpenAI.Chat.ChatCompletionMessageFunctionToolCall & { readonly extra_content?: object }) {
  const { id, function: called, extra_content: extra } = call;
  const { name, arguments: given } = called;
  return {
    id,
    type: 'function' as const,
    function: { name, arguments: given },
    ...(extra === undefined ? {} : { extra_content: extra }),
  };
}

function partOf(part: Asked): OpenAI.Chat.ChatCompletionContentPart {
  if (part.kind === 'text') return { type: 'text', text: part.text, ...cacheControlOf(part) };
  const url = `data:${part.mediaType};base64,${part.data}`;
  return part.kind === 'image'
    ? { type: 'image_url', image_url: { url } }
    : { type: 'file', file: { filename: part.name, file_data: url } };
}

function toolOf(tool: Question['tools'][number]): OpenAI.Chat.ChatCompletionTool {
  const { name, description, schema } = tool;
  return { type: 'function', function: { name, description, parameters: { ...schema } }, ...cacheControlOf(tool) };
}

function formatOf(schema: object): OpenAI.ResponseFormatJSONSchema {
  return { type: 'json_schema', json_schema: { name: 'hours', schema: { ...schema }, strict: true } };
}
