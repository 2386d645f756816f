import type { Body } from '#test/gateway/support/strict-provider.ts';
import { parsedOrText, type Reason, type Said, type SaidCall, tokens } from '../exchange.ts';
import { halves, type Manner } from './matrix-provider.ts';

const common = { id: 'chatcmpl-fake', created: 1_767_225_600, model: 'gpt-x' };
const reasons: Readonly<Record<Reason, string>> = { stop: 'stop', 'tool-calls': 'tool_calls', length: 'length' };
const counts = {
  prompt_tokens: tokens.input,
  completion_tokens: tokens.output,
  total_tokens: tokens.input + tokens.output,
};
const usage = { ...counts, prompt_tokens_details: { cached_tokens: tokens.cached } };

/** What differs between providers of chats. What is missing is as OpenAI has it. */
interface Differences extends Partial<Pick<Manner, 'fits' | 'isForeign' | 'hasIds' | 'mixesThoughts'>> {
  /** Events before the first one. */
  readonly first?: ReadonlyArray<string>;
  /** The members of a message that say a thought, and a text. */
  readonly thought?: (text: string) => Body;
  readonly text?: (text: string) => Body;
  /** The deltas of all calls. */
  readonly callDeltas?: (calls: ReadonlyArray<SaidCall>) => ReadonlyArray<Body>;
  /** After how many of them the last text comes. Default: before all of them. */
  readonly textsAfter?: number;
  readonly wholeCall?: (call: SaidCall, index: number) => Body;
  readonly reasons?: Readonly<Record<Reason, string>>;
  /** Where the usage of a stream is: members of the last choice, and of its chunk. Default: a chunk of its own. */
  readonly usageInEnd?: { readonly choice?: Body; readonly chunk?: Body };
  readonly wholeUsage?: Body;
}

const hasCalls = (script: ReadonlyArray<Said>) => script.some(({ calls }) => calls.length > 1);
const hasWholeCalls = (script: ReadonlyArray<Said>) =>
  hasCalls(script) && script.every(({ calls }) => calls.every(({ given }) => given.endsWith('}')));
const isOneTurn = (script: ReadonlyArray<Said>) => script.length === 1 && !hasCalls(script);

/** How providers of chats that are not exactly OpenAI say the same. */
export const chatManners: readonly [Manner, ...Manner[]] = [
  mannerOf('OpenAI', {}),
  mannerOf('OpenRouter', {
    isForeign: true,
    first: [': OPENROUTER PROCESSING\n\n'],
    thought: (text) => ({ reasoning: text }),
  }),
  // https://learn.microsoft.com/en-us/azure/ai-foundry/openai/how-to/content-filters
  mannerOf('Azure', { first: [chunkOf([], { id: '', model: '', prompt_filter_results: [] })] }),
  // https://docs.mistral.ai/capabilities/reasoning/
  mannerOf('Mistral', {
    isForeign: true,
    mixesThoughts: true,
    thought: (text) => ({ content: [{ type: 'thinking', thinking: [{ type: 'text', text }] }] }),
    text: (text) => ({ content: [{ type: 'text', text }] }),
  }),
  // https://console.groq.com/docs/api-reference
  mannerOf('Groq', { isForeign: true, fits: isOneTurn, usageInEnd: { chunk: { x_groq: { id: 'req_x', usage } } } }),
  // https://platform.moonshot.ai/docs/api/chat
  mannerOf('Moonshot', {
    isForeign: true,
    fits: isOneTurn,
    usageInEnd: { choice: { usage: { ...counts, cached_tokens: tokens.cached } } },
    wholeUsage: { ...counts, cached_tokens: tokens.cached },
  }),
  mannerOf('llama.cpp', { fits: isOneTurn, usageInEnd: { chunk: { usage, timings: { prompt_n: 15 } } } }),
  mannerOf('Gemini, which gives all calls the index 0', {
    isForeign: true,
    fits: hasCalls,
    callDeltas: (calls) => calls.map((call) => ({ index: 0, ...callOf(call) })),
  }),
  mannerOf('a provider of calls without an index', {
    isForeign: true,
    fits: hasCalls,
    callDeltas: (calls) =>
      calls.flatMap((call, index) => callDeltas(call, index).map(({ index: _, ...delta }) => delta)),
  }),
  mannerOf('a provider of calls without an id', {
    isForeign: true,
    hasIds: false,
    fits: hasWholeCalls,
    callDeltas: (calls) => calls.map((call, index) => ({ index, ...callOf({ ...call, id: '' }) })),
    wholeCall: ({ id: _, ...call }) => callOf({ id: '', ...call }),
  }),
  mannerOf('a provider that mixes the pieces of calls and texts', {
    fits: hasCalls,
    callDeltas: (calls) => {
      const deltas = calls.map(callDeltas);
      const places = [...new Set(deltas.flatMap((each) => [...each.keys()]))];
      return places.flatMap((place) => deltas.flatMap((each) => each.slice(place, place + 1)));
    },
    textsAfter: 3,
  }),
  mannerOf('Ollama, whose arguments are objects', {
    isForeign: true,
    fits: hasWholeCalls,
    callDeltas: (calls) => calls.map((call, index) => ({ index, ...withObject(call) })),
    wholeCall: withObject,
    reasons: { ...reasons, 'tool-calls': 'stop' },
  }),
];

function mannerOf(name: string, differences: Differences): Manner {
  const { thought = reasoningContent, text = content, wholeCall = callOf, ...more } = differences;
  const { callDeltas: deltasOf = (calls) => calls.flatMap(callDeltas), reasons: named = reasons, usageInEnd } = more;
  const message = (said: Said): Body => ({
    role: 'assistant',
    refusal: null,
    ...joined(said.thought === '' ? {} : thought(said.thought), said.text === '' ? { content: null } : text(said.text)),
    ...(said.calls.length === 0 ? {} : { tool_calls: said.calls.map(wholeCall) }),
  });
  const delta = (said: Body) => chunkOf([{ index: 0, delta: said, logprobs: null, finish_reason: null }]);
  const end = (reason: Reason) =>
    chunkOf(
      [{ index: 0, delta: {}, logprobs: null, finish_reason: named[reason], ...usageInEnd?.choice }],
      usageInEnd?.chunk,
    );
  return {
    name,
    fits: more.fits ?? (() => true),
    isForeign: more.isForeign ?? false,
    hasIds: more.hasIds ?? true,
    mixesThoughts: more.mixesThoughts ?? false,
    whole: (said) => ({
      ...common,
      object: 'chat.completion',
      choices: [{ index: 0, message: message(said), logprobs: null, finish_reason: named[said.reason] }],
      usage: more.wholeUsage ?? usage,
    }),
    stream: (said) => ({
      start: [...(more.first ?? []), delta({ role: 'assistant', content: said.calls.length > 0 ? null : '' })],
      content: [
        ...halves(said.thought).map((piece) => delta(thought(piece))),
        ...mixed(
          halves(said.text).map((piece) => delta(text(piece))),
          deltasOf(said.calls).map((call) => delta({ tool_calls: [call] })),
          more.textsAfter ?? 0,
        ),
      ],
      end: [end(said.reason), ...(usageInEnd === undefined ? [chunkOf([], { usage })] : []), 'data: [DONE]\n\n'],
    }),
  };
}

function mixed(texts: ReadonlyArray<string>, calls: ReadonlyArray<string>, callsBefore: number): ReadonlyArray<string> {
  return [...texts.slice(0, -1), ...calls.slice(0, callsBefore), ...texts.slice(-1), ...calls.slice(callsBefore)];
}

function reasoningContent(text: string): Body {
  return { reasoning_content: text };
}

function content(text: string): Body {
  return { content: text };
}

/** The members of a message; two lists of parts become one. */
function joined(thought: Body, text: Body): Body {
  const lists = [thought.content, text.content].filter((each) => Array.isArray(each));
  return { ...thought, ...text, ...(lists.length === 0 ? {} : { content: lists.flat() }) };
}

function chunkOf(choices: ReadonlyArray<Body>, more: Body = {}): string {
  return `data: ${JSON.stringify({ ...common, object: 'chat.completion.chunk', choices, ...more })}\n\n`;
}

function callOf({ id, name, given, state }: SaidCall): Body {
  return { id, type: 'function', function: { name, arguments: given }, ...extraContent(state) };
}

function withObject({ id, name, given, state }: SaidCall): Body {
  return { id, type: 'function', function: { name, arguments: parsedOrText(given) }, ...extraContent(state) };
}

/** How Gemini gives its state: https://ai.google.dev/gemini-api/docs/thought-signatures */
function extraContent(state: string | undefined): Body {
  return state === undefined ? {} : { extra_content: { google: { thought_signature: state } } };
}

function callDeltas(call: SaidCall, index: number): ReadonlyArray<Body> {
  return [
    { index, ...callOf({ ...call, given: '' }) },
    ...halves(call.given).map((piece) => ({ index, function: { arguments: piece } })),
  ];
}
