import Anthropic from '@anthropic-ai/sdk';
import type { Asked, Outcome, Question } from '../../../gateway/matrix/exchange.ts';
import {
  type Conversation,
  type ConversationOptions,
  cacheControlOf,
  maxTokens,
} from '../../../gateway/matrix/matrix-client.ts';
import { goodKey } from '../../../http/support/fake-service.ts';
import { failedWith } from './failed-with.ts';

const reasons: Readonly<Record<string, string>> = { end_turn: 'stop', tool_use: 'tool-calls', max_tokens: 'length' };

/** Messages, by `@anthropic-ai/sdk`. */
export class MessagesConversation implements Conversation {
  readonly #client: Anthropic;
  readonly #options: ConversationOptions;
  readonly #messages: Anthropic.MessageParam[] = [];
  #request: Partial<Anthropic.MessageCreateParams> = {};
  answerId = '';

  constructor(options: ConversationOptions) {
    const { url, fetch } = options;
    this.#options = options;
    this.#client = new Anthropic({ baseURL: url, apiKey: goodKey, maxRetries: 0, fetch });
  }

  ask({ system, content, tools, schema, thinks }: Question): Promise<Outcome> {
    this.#messages.push({ role: 'user', content: content.map(blockOf) });
    this.#request = {
      system,
      ...(tools.length === 0 ? {} : { tools: tools.map(toolOf) }),
      ...(schema === null ? {} : { output_config: { format: { type: 'json_schema', schema: { ...schema } } } }),
      ...(thinks ? { thinking: { type: 'enabled', budget_tokens: 4_000 } } : {}),
    };
    return this.#send();
  }

  giveResults(results: ReadonlyMap<string, string>, saidBefore: string): Promise<Outcome> {
    const content: Anthropic.ContentBlockParam[] = saidBefore === '' ? [] : [{ type: 'text', text: saidBefore }];
    for (const [id, result] of results) content.push({ type: 'tool_result', tool_use_id: id, content: result });
    this.#messages.push({ role: 'user', content });
    return this.#send();
  }

  async #send(): Promise<Outcome> {
    const { model, isStreamed } = this.#options;
    const request = { ...this.#request, model, max_tokens: maxTokens, messages: this.#messages };
    let text = '';
    try {
      if (!isStreamed) return this.#outcomeOf(await this.#client.messages.create({ ...request, stream: false }));
      const stream = this.#client.messages.stream({ ...request, stream: true });
      stream.on('text', (piece) => {
        text += piece;
      });
      return this.#outcomeOf(await stream.finalMessage());
    } catch (error) {
      return failedWith(error, text);
    }
  }

  #outcomeOf({ id, content, stop_reason: reason, usage }: Anthropic.Message): Outcome {
    this.answerId = id;
    this.#messages.push({ role: 'assistant', content });
    const cached = usage.cache_read_input_tokens ?? 0;
    return {
      kind: 'answer',
      thought: content.map((block) => (block.type === 'thinking' ? block.thinking : '')).join(''),
      text: content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
      calls: content.flatMap((block) =>
        block.type === 'tool_use' ? [{ id: block.id, name: block.name, given: block.input }] : [],
      ),
      reason: reasons[reason ?? ''] ?? String(reason),
      tokens: {
        input: usage.input_tokens + cached + (usage.cache_creation_input_tokens ?? 0),
        cached,
        output: usage.output_tokens,
      },
    };
  }
}

function blockOf(part: Asked): Anthropic.ContentBlockParam {
  if (part.kind === 'text') return { type: 'text', text: part.text, ...cacheControlOf(part) };
  const source = { type: 'base64' as const, data: part.data };
  return part.kind === 'image'
    ? { type: 'image', source: { ...source, media_type: part.mediaType as 'image/png' } }
    : { type: 'document', source: { ...source, media_type: 'application/pdf' }, title: part.name };
}

function toolOf(tool: Question['tools'][number]): Anthropic.Tool {
  const { name, description, schema } = tool;
  return { name, description, input_schema: { ...schema, required: [...schema.required] }, ...cacheControlOf(tool) };
}
