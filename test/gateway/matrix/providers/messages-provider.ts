import { eventsOf, signatureOf, strictMessages } from '#test/gateway/support/strict-messages.ts';
import { type Body, isObject, isText, listOf } from '#test/gateway/support/strict-provider.ts';
import { type Cacheable, type Fault, parsedOrText, type Reason, type Said, type Tool, tokens } from '../exchange.ts';
import type { Manner, MatrixProvider, ReadPart, Streamed } from './matrix-provider.ts';

const errorNames: Readonly<Record<Fault, string>> = { busy: 'rate_limit_error', invalid: 'invalid_request_error' };

const errorOf = (fault: Fault) => ({
  type: 'error',
  error: { type: errorNames[fault], message: 'Not this' },
  request_id: 'req_fake',
});
const ping = 'event: ping\ndata: {"type":"ping"}\n\n';

const anthropic: Manner = {
  name: 'Anthropic',
  fits: () => true,
  isForeign: false,
  hasIds: true,
  mixesThoughts: false,
  whole: (said) => messageOf(said),
  stream: streamOf,
};

const manners: readonly [Manner, ...Manner[]] = [
  anthropic,
  {
    ...anthropic,
    name: 'Anthropic with pings between all events',
    stream: (said) => {
      const { start, content, end } = streamOf(said);
      return { start, content: content.flatMap((event) => [event, ping]), end };
    },
  },
  {
    ...anthropic,
    name: 'a provider that has the arguments of a call in the start of its block',
    fits: (script) => script.some(({ calls, reason }) => calls.length > 1 && reason !== 'length'),
    stream: (said) => {
      const events = streamOf(said);
      const inputs = said.calls.map(({ given }) => given);
      const content = events.content
        .filter((event) => !event.includes('input_json_delta'))
        .map((event) =>
          event.includes('"tool_use"') ? event.replace('"input":{}', `"input":${inputs.shift()}`) : event,
        );
      return { ...events, content };
    },
  },
  {
    ...anthropic,
    name: 'a provider that counts all tokens at the end',
    stream: (said) => {
      const { start, content, end } = streamOf(said);
      const [message = '', ...others] = start;
      return {
        start: [message.replace(/"usage":\{[^}]*\}/, '"usage":{"input_tokens":0,"output_tokens":0}'), ...others],
        content,
        end: end.map((event) => event.replace(/"usage":\{[^}]*\}/, `"usage":${JSON.stringify(usage)}`)),
      };
    },
  },
];

/** A provider of Messages, of a model that thinks. */
export const messagesProvider: MatrixProvider = {
  protocol: 'anthropic-messages',
  entry: { kind: 'anthropic' },
  target: { thinking: 'budget' },
  strict: strictMessages,
  manners,
  getsThoughts: true,
  read: (body) => {
    const format = isObject(body.output_config) ? body.output_config.format : null;
    return {
      system: isText(body.system) ? body.system : textsIn(body.system),
      parts: listOf(body.messages).flatMap(partsOf),
      tools: listOf(body.tools).map((tool) => ({
        name: String(tool.name),
        description: String(tool.description),
        schema: tool.input_schema as Tool['schema'],
        ...cacheIn(tool),
      })),
      schema: isObject(format) ? (format.schema as object) : null,
      thinks: isObject(body.thinking) && body.thinking.type === 'enabled',
    };
  },
  errorNames,
  refusal: errorOf,
  errorEvent: (fault) => `event: error\ndata: ${JSON.stringify(errorOf(fault))}\n\n`,
};

const usage = {
  input_tokens: tokens.input - tokens.cached,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: tokens.cached,
  output_tokens: tokens.output,
};

const reasons: Readonly<Record<Reason, string>> = { stop: 'end_turn', 'tool-calls': 'tool_use', length: 'max_tokens' };

/** @param inputOf the input of a call with these arguments */
function messageOf({ thought, text, calls, reason }: Said, inputOf: (given: string) => unknown = objectOr): Body {
  return {
    id: 'msg_fake',
    type: 'message',
    role: 'assistant',
    model: 'claude-x',
    content: [
      ...(thought === '' ? [] : [{ type: 'thinking', thinking: thought, signature: signatureOf(thought) }]),
      ...(text === '' ? [] : [{ type: 'text', text }]),
      ...calls.map(({ id, name, given }) => ({ type: 'tool_use', id, name, input: inputOf(given) })),
    ],
    stop_reason: reasons[reason],
    stop_sequence: null,
    usage,
  };
}

/** A whole answer has no arguments of a call that is cut off. */
function objectOr(given: string): unknown {
  const value = parsedOrText(given);
  return isObject(value) ? value : {};
}

function streamOf(said: Said): Streamed {
  const events = eventsOf(messageOf(said, parsedOrText));
  return { start: events.slice(0, 2), content: events.slice(2, -2), end: events.slice(-2) };
}

function partsOf({ role, content }: Body): ReadonlyArray<ReadPart> {
  if (isText(content)) return [{ kind: role === 'user' ? 'text' : 'said', text: content }];
  return listOf(content).map((block) => partOf(block, role === 'user'));
}

function partOf(block: Body, isAsked: boolean): ReadPart {
  const { type, text, thinking, source, title, id, name, input, content, tool_use_id: callId } = block;
  switch (type) {
    case 'thinking':
      return { kind: 'thought', text: String(thinking) };
    case 'tool_use':
      return { kind: 'call', id: String(id), name: String(name), given: input };
    case 'tool_result':
      return { kind: 'result', id: String(callId), text: isText(content) ? content : textsIn(content) };
    case 'image':
    case 'document': {
      const { media_type: mediaType, data } = source as Body;
      const inline = { mediaType: String(mediaType), data: String(data) };
      return type === 'image' ? { kind: type, ...inline } : { kind: type, ...inline, name: String(title) };
    }
    default:
      return { kind: isAsked ? 'text' : 'said', text: String(text), ...cacheIn(block) };
  }
}

function cacheIn({ cache_control: asked }: Body): Cacheable {
  return asked === undefined ? {} : { isCached: true };
}

function textsIn(blocks: unknown): string {
  return listOf(blocks)
    .map(({ text }) => String(text))
    .join('');
}
