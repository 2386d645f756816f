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

/** Responses, by `openai`. */
export class ResponsesConversation implements Conversation {
  readonly #client: OpenAI;
  readonly #options: ConversationOptions;
  readonly #input: OpenAI.Responses.ResponseInputItem[] = [];
  #request: Omit<OpenAI.Responses.ResponseCreateParamsNonStreaming, 'model' | 'stream'> = {};
  answerId = '';

  constructor(options: ConversationOptions) {
    const { url, fetch } = options;
    this.#options = options;
    this.#client = new OpenAI({ baseURL: `${url}/v1`, apiKey: goodKey, maxRetries: 0, fetch });
  }

  ask({ system, content, tools, schema, thinks }: Question): Promise<Outcome> {
    this.#input.push({ type: 'message', role: 'user', content: content.map(partOf) });
    this.#request = {
      instructions: system,
      max_output_tokens: maxTokens,
      store: false,
      ...(tools.length === 0 ? {} : { tools: tools.map(declaredOf) }),
      ...(schema === null ? {} : { text: { format: formatOf(schema) } }),
      ...(thinks ? { reasoning: { effort: 'low' as const }, include: ['reasoning.encrypted_content' as const] } : {}),
    };
    return this.#send();
  }

  giveResults(results: ReadonlyMap<string, string>, saidBefore: string): Promise<Outcome> {
    if (saidBefore !== '') this.#input.push({ type: 'message', role: 'user', content: saidBefore });
    for (const [id, output] of results) this.#input.push({ type: 'function_call_output', call_id: id, output });
    return this.#send();
  }

  async #send(): Promise<Outcome> {
    const { model, isStreamed } = this.#options;
    const request = { ...this.#request, model, input: this.#input };
    let text = '';
    try {
      if (!isStreamed) return this.#outcomeOf(await this.#client.responses.create(request), text);
      const stream = this.#client.responses.stream(request);
      stream.on('response.output_text.delta', ({ delta }) => {
        text += delta;
      });
      return this.#outcomeOf(await stream.finalResponse(), text);
    } catch (error) {
      const failed = failedWith(error, text);
      // Codex ignores `event: error`, so a stream must end with `response.failed`, which is no error to the SDK.
      if (failed.status === null) throw error;
      return failed;
    }
  }

  #outcomeOf(response: OpenAI.Responses.Response, text: string): Outcome {
    const { id, status, output, output_text: said, usage } = response;
    if (status === 'failed') return { kind: 'error', status: null, code: response.error?.code ?? null, text };
    this.answerId = id;
    this.#input.push(...(output.map(sentBack) as OpenAI.Responses.ResponseInputItem[]));
    const calls = output.filter((item) => item.type === 'function_call');
    return {
      kind: 'answer',
      thought: output
        .flatMap((item) => (item.type === 'reasoning' ? item.summary.map(({ text }) => text) : []))
        .join(''),
      text: said,
      calls: calls.map(({ call_id: callId, name, namespace, arguments: given }) => ({
        id: callId,
        name,
        ...(namespace === undefined ? {} : { namespace }),
        given: parsedOrText(given),
      })),
      reason: reasonOf(response, calls.length > 0),
      tokens: {
        input: usage?.input_tokens ?? -1,
        cached: usage?.input_tokens_details.cached_tokens ?? -1,
        output: usage?.output_tokens ?? -1,
      },
    };
  }
}

function reasonOf({ status, incomplete_details: details }: OpenAI.Responses.Response, hasCalls: boolean): string {
  if (status === 'completed') return hasCalls ? 'tool-calls' : 'stop';
  return details?.reason === 'max_output_tokens' ? 'length' : `${status} ${details?.reason}`;
}

/** An item without what the helper of the SDK adds. */
function sentBack(item: OpenAI.Responses.ResponseOutputItem): object {
  if (item.type !== 'function_call') return item;
  const { parsed_arguments: _, ...call } = item as typeof item & { parsed_arguments?: unknown };
  return call;
}

function partOf(part: Asked): OpenAI.Responses.ResponseInputContent {
  if (part.kind === 'text') return { type: 'input_text', text: part.text, ...cacheControlOf(part) };
  const url = `data:${part.mediaType};base64,${part.data}`;
  return part.kind === 'image'
    ? { type: 'input_image', image_url: url, detail: 'auto' }
    : { type: 'input_file', filename: part.name, file_data: url };
}

function declaredOf(tool: Question['tools'][number]): OpenAI.Responses.Tool {
  const { namespace } = tool;
  if (namespace === undefined) return toolOf(tool);
  return { type: 'namespace', name: namespace, description: '', tools: [toolOf(tool)] };
}

function toolOf(tool: Question['tools'][number]): OpenAI.Responses.FunctionTool {
  const { name, description, schema } = tool;
  return { type: 'function', name, description, parameters: { ...schema }, strict: null, ...cacheControlOf(tool) };
}

function formatOf(schema: object): OpenAI.Responses.ResponseFormatTextJSONSchemaConfig {
  return { type: 'json_schema', name: 'hours', schema: { ...schema }, strict: true };
}
