import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { allState, rulesOfChats, sendChat, strictChat } from '#test/gateway/support/strict-chat.ts';
import { type Body, listOf, rule, type StrictProvider } from '#test/gateway/support/strict-provider.ts';

/** A provider of chats that refuses a later turn without what it gave in the turns before. */
export interface StatefulProvider {
  readonly name: string;
  readonly page: string;
  /** What it gives with a message in addition to its content and its calls, and wants back. */
  readonly given: (turn: number) => Body;
  /** The deltas in which a stream has that. */
  readonly deltas: (turn: number) => ReadonlyArray<Body>;
  /** Those after its calls or its text. */
  readonly late?: (turn: number) => ReadonlyArray<Body>;
  /** What the first call of a message has in addition. */
  readonly ofCall?: (turn: number) => Body;
  /** The members of its target in the configuration. */
  readonly target?: object;
}

const thought = (turn: number) => `I need day ${turn}.`;
const halves = (text: string) => [text.slice(0, 5), text.slice(5)];

function details(turn: number): ReadonlyArray<Body> {
  const format = 'anthropic-claude-v1';
  return [
    { type: 'reasoning.text', text: thought(turn), signature: `sig-${turn}`, format, index: 0 },
    { type: 'reasoning.encrypted', data: `secret-${turn}`, id: `rs_${turn}`, format, index: 1 },
  ];
}

export const deepSeek: StatefulProvider = {
  name: 'DeepSeek',
  page: 'https://api-docs.deepseek.com/guides/thinking_mode',
  given: (turn) => ({ reasoning_content: thought(turn) }),
  deltas: (turn) => halves(thought(turn)).map((text) => ({ reasoning_content: text, content: null })),
};

export const statefulProviders: ReadonlyArray<StatefulProvider> = [
  deepSeek,
  {
    name: 'vLLM',
    page: 'https://docs.vllm.ai/en/latest/features/reasoning_outputs.html',
    given: (turn) => ({ reasoning: thought(turn) }),
    deltas: (turn) => halves(thought(turn)).map((text) => ({ reasoning: text })),
  },
  {
    name: 'OpenRouter',
    page: 'https://openrouter.ai/docs/use-cases/reasoning-tokens#preserving-reasoning-blocks',
    given: (turn) => ({ reasoning: thought(turn), reasoning_details: details(turn) }),
    deltas: (turn) => {
      const [text, encrypted] = details(turn);
      const pieces = halves(thought(turn));
      return [
        ...pieces.map((piece) => ({
          reasoning: piece,
          reasoning_details: [{ ...text, text: piece, signature: null }],
        })),
        { content: '', reasoning_details: [{ type: text?.type, signature: text?.signature, index: 0 }] },
        { content: '', reasoning_details: [encrypted] },
      ];
    },
  },
  {
    name: 'OpenRouter with reasoning that is all encrypted',
    page: 'https://openrouter.ai/docs/use-cases/reasoning-tokens#preserving-reasoning-blocks',
    given: (turn) => ({ reasoning_details: details(turn).slice(1) }),
    deltas: (turn) => [{ reasoning_details: details(turn).slice(1) }],
  },
  {
    name: 'OpenRouter with what is encrypted after the calls',
    page: 'https://openrouter.ai/docs/use-cases/reasoning-tokens#preserving-reasoning-blocks',
    given: (turn) => ({ reasoning: thought(turn), reasoning_details: details(turn) }),
    deltas: (turn) => [{ reasoning: thought(turn), reasoning_details: [{ ...details(turn)[0], signature: null }] }],
    late: (turn) => [
      { reasoning_details: [{ type: 'reasoning.text', signature: `sig-${turn}`, index: 0 }] },
      { reasoning_details: details(turn).slice(1) },
    ],
  },
  {
    name: 'Gemini',
    page: 'https://ai.google.dev/gemini-api/docs/thought-signatures',
    given: () => ({}),
    deltas: () => [],
    ofCall: (turn) => ({ extra_content: { google: { thought_signature: `Cr+/${turn}==` } } }),
  },
  {
    name: 'Gemini with a signature of its message too',
    page: 'https://ai.google.dev/gemini-api/docs/thought-signatures',
    given: (turn) => ({ extra_content: { google: { thought_signature: `of message ${turn}` } } }),
    deltas: (turn) => [
      { content: '', extra_content: { google: { thought: true, thought_signature: `of message ${turn}` } } },
    ],
    ofCall: (turn) => ({ extra_content: { google: { thought_signature: `of call ${turn}` } } }),
  },
];

const thoughtless: StatefulProvider = {
  name: 'a model that does not think',
  page: 'https://platform.openai.com/docs/api-reference/chat/create',
  given: () => ({}),
  deltas: () => [],
};

const call = (id: string, day: string, more: Body = {}): Body => ({
  ...{ id, type: 'function', function: { name: 'opening_hours', arguments: JSON.stringify({ day }) } },
  ...more,
});

/** What it says after this number of its messages: two calls, one call, a text; then it begins again. */
function messageOf({ given, ofCall }: StatefulProvider, turn: number): Body {
  const first = ofCall?.(turn);
  const ids = [[`call_${turn}a`, `call_${turn}b`], [`call_${turn}`], []][turn % 3] ?? [];
  const calls = ids.map((id, index) => call(id, `day ${index}`, index === 0 ? first : {}));
  const said = calls.length === 0 ? { content: 'Open ✓' } : { content: null, tool_calls: calls };
  return { role: 'assistant', ...said, ...given(turn) };
}

/** Which of its messages a provider wants back as it said them. */
export type Wanted = 'since the last question' | 'all with calls' | 'none' | 'none of others';

/** Plays a provider. It refuses a request without what it wants back, and with reasoning that it does not want. */
export function play(provider: StatefulProvider, wanted: Wanted): StrictProvider {
  const rules = [
    ...rulesOfChats(allState),
    rule(provider.page, (body) => (wanted === 'none of others' ? null : faultIn(body, provider, wanted))),
  ];
  return strictChat((res, body) => {
    const turn = listOf(body.messages).filter(({ role }) => role === 'assistant').length;
    sendChat(res, body, {
      message: messageOf(provider, turn),
      deltas: provider.deltas(turn),
      late: provider.late?.(turn) ?? [],
    });
  }, rules);
}

function faultIn(body: Body, provider: StatefulProvider, wanted: Wanted): string | null {
  const messages = listOf(body.messages);
  const asked = messages.findLastIndex(({ role }) => role === 'user');
  let turn = 0;
  for (const [index, message] of messages.entries()) {
    if (message.role !== 'assistant') continue;
    const said = messageOf(provider, turn);
    const isWanted = wanted === 'since the last question' ? index > asked : wanted === 'all with calls' && turn % 3 < 2;
    if (isWanted && !isDeepStrictEqual(stateOf(message), stateOf(said)))
      return `The reasoning of message ${turn} must be passed back: ${JSON.stringify(message)}`;
    if (!isWanted && wanted !== 'all with calls' && Object.keys(stateOf(message)).some((name) => name !== 'calls'))
      return `The reasoning of message ${turn} is not wanted`;
    turn += 1;
  }
  return null;
}

function stateOf({ role: _, content: __, tool_calls: calls, ...members }: Body): Body {
  return { ...members, calls: listOf(calls).map(({ extra_content: extra = null }) => extra) };
}

/** A provider by its name, or one that gives nothing. */
export function named(name: string): StatefulProvider {
  if (name === thoughtless.name) return thoughtless;
  return statefulProviders.find((provider) => provider.name === name) ?? assert.fail(name);
}
