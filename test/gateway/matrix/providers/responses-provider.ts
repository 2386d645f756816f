import { type Body, isObject, isText, listOf } from '#test/gateway/support/strict-provider.ts';
import { strictResponses } from '#test/gateway/support/strict-responses.ts';
import { type Fault, parsedOrText, type Tool } from '../exchange.ts';
import { dataOf, type MatrixProvider, type ReadPart } from './matrix-provider.ts';
import { encryptedOf, name, responsesManners } from './responses-manners.ts';

const errors: Readonly<Record<Fault, Body>> = {
  busy: { message: 'Rate limit reached', type: 'requests', param: null, code: 'rate_limit_exceeded' },
  invalid: { message: 'Not this', type: 'invalid_request_error', param: null, code: 'content_policy_violation' },
};

/** A provider of Responses, of a model that thinks and shows a summary. */
export const responsesProvider: MatrixProvider = {
  protocol: 'openai-responses',
  entry: { kind: 'openai-compatible', responses: true },
  target: { reasoning: true, protocol: 'openai-responses' },
  strict: (answer) => strictResponses(name, answer),
  manners: responsesManners,
  getsThoughts: true,
  read: (body) => {
    const format = isObject(body.text) ? body.text.format : null;
    return {
      system: String(body.instructions),
      parts: listOf(body.input).flatMap(partsOf),
      tools: listOf(body.tools).flatMap(toolsIn),
      schema: isObject(format) ? (format.schema as object) : null,
      thinks: isObject(body.reasoning) && body.reasoning.effort === 'low',
    };
  },
  errorNames: { busy: 'rate_limit_exceeded', invalid: 'content_policy_violation' },
  refusal: (fault) => ({ error: errors[fault] }),
  errorEvent: (fault) => {
    const { message, code } = errors[fault];
    return `event: error\ndata: ${JSON.stringify({ type: 'error', code, message, param: null, sequence_number: 9 })}\n\n`;
  },
};

/** A tool, or those of a namespace. */
function toolsIn({ type, name: called, description, parameters, tools }: Body): ReadonlyArray<Tool> {
  if (type === 'namespace')
    return listOf(tools).flatMap((tool) => toolsIn(tool).map((each) => ({ ...each, namespace: String(called) })));
  return [{ name: String(called), description: String(description), schema: parameters as Tool['schema'] }];
}

function partsOf(item: Body): ReadonlyArray<ReadPart> {
  switch (item.type) {
    case 'reasoning': {
      const text = listOf(item.summary)
        .map((each) => String(each.text))
        .join('');
      if (item.encrypted_content !== encryptedOf(text)) throw new Error('The opaque text is of another thought');
      return [{ kind: 'thought', text }];
    }
    case 'function_call':
      return [
        {
          kind: 'call',
          id: String(item.call_id),
          name: String(item.name),
          ...(item.namespace === undefined ? {} : { namespace: String(item.namespace) }),
          given: parsedOrText(String(item.arguments)),
        },
      ];
    case 'function_call_output':
      return [{ kind: 'result', id: String(item.call_id), text: String(item.output) }];
    default:
      return isText(item.content)
        ? [{ kind: item.role === 'assistant' ? 'said' : 'text', text: item.content }]
        : listOf(item.content).map(askedOf);
  }
}

function askedOf({ type, text, image_url: image, filename, file_data: data }: Body): ReadPart {
  if (type === 'input_image') return { kind: 'image', ...dataOf(image) };
  if (type === 'input_file') return { kind: 'document', ...dataOf(data), name: String(filename) };
  return { kind: type === 'output_text' ? 'said' : 'text', text: String(text) };
}
