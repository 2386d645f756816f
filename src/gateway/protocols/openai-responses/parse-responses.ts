import * as E from 'fp-ts/lib/Either.js';
import type { Failure } from '#domain/shared/failure.ts';
import { parseKeepingText } from '#gateway/framing/json-text.ts';
import type { LongTexts } from '#gateway/framing/long-texts.ts';
import type {
  Conversation,
  OutputForm,
  ReasoningPart,
  TextPart,
  Turn,
  Unsupported,
} from '#gateway/neutral/conversation.ts';
import { promptControl, withMessageControl } from '#gateway/protocols/cache-control.ts';
import { contentParts, onlyTexts, textPart } from '#gateway/protocols/content-parts.ts';
import { LeftOut } from '#gateway/protocols/left-out.ts';
import { openAiOutput } from '#gateway/protocols/output-form.ts';
import {
  effortAt,
  listOr,
  objectOr,
  orUnsupported,
  refuse,
  shown,
  textAt,
  textOr,
} from '#gateway/protocols/parsing.ts';
import type { ParsedRequest } from '#gateway/protocols/protocol.ts';
import { signatureIn } from '#gateway/protocols/signature-text.ts';
import { type ChoiceForm, openAiToolChoice } from '#gateway/protocols/tool-choice.ts';
import { ToolNames } from '#gateway/protocols/tool-names.ts';
import { TurnCollector } from '#gateway/protocols/turn-collector.ts';
import { isObject, type Json, type JsonObject } from '#shared/json/json.ts';
import { CallItems } from './call-items.ts';
import { DeclaredTools } from './declared-tools.ts';
import { itemMembers, partsOf } from './item-content.ts';
import { noBackground } from './responses-body.ts';
import { toolsAt } from './responses-ids.ts';
import type { ResponsesRequest } from './responses-request.ts';

/** Schemas are moved as JSON text. */
const keptTexts = [
  ...toolsAt([]).map((tool) => [...tool, 'parameters']),
  ...toolsAt(['input', '*']).map((tool) => [...tool, 'parameters']),
  ['text', 'format', 'schema'],
];

/**
 * Arguments of tools are JSON, or become a part of it. A thought may be part of the state that its provider needs back.
 */
const jsonInTexts = [
  ['input', '*', 'arguments'],
  ['input', '*', 'input'],
  ['input', '*', 'summary', '*', 'text'],
  ['input', '*', 'action'],
  ['input', '*', 'operation'],
  ['input', '*', 'output', '*', 'stdout'],
  ['input', '*', 'output', '*', 'stderr'],
];

/** The members that are parsed, and those that the gateway itself answers. */
const requestMembers = [
  'model',
  'input',
  'instructions',
  'max_output_tokens',
  'temperature',
  'top_p',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'text',
  'reasoning',
  'stream',
  'stream_options',
  'store',
  'previous_response_id',
  'metadata',
] as const;

/** The provider's own name of its opaque reasoning, which no other protocol reads. */
const foreignReasoning = 'openai-responses';

/**
 * @param maxValues in the request and the items before it @param longTexts takes the long texts out; missing if they
 *   are to stay
 */
export async function parseResponses(
  { bytes, before }: Pick<ResponsesRequest, 'bytes' | 'before'>,
  maxValues: number,
  longTexts?: LongTexts,
): Promise<E.Either<Unsupported | Failure, ParsedRequest>> {
  const body = await parseKeepingText(bytes, keptTexts, {
    maxValues: Math.max(1, maxValues - (before?.values ?? 0)),
    jsonInTexts,
    longTexts,
  });
  if (E.isLeft(body)) return body;
  const items = before === null ? [] : await before.parse();
  return orUnsupported(() => parsedOf(body.right, withItems(body.right, items)));
}

function withItems({ input }: JsonObject, items: ReadonlyArray<JsonObject>): Json | undefined {
  if (items.length === 0) return input;
  const own = typeof input === 'string' ? [{ type: 'message', role: 'user', content: input }] : listOr(input);
  return [...items, ...own];
}

/** @param input with the items before it */
function parsedOf(body: JsonObject, input: Json | undefined): ParsedRequest {
  if (body.background === true) refuse(noBackground.pointer, noBackground.message);
  const leftOut = new LeftOut();
  const asked = leftOut.read(body, '', requestMembers);
  leftOut.read(leftOut.objectAt(asked.stream_options, '/stream_options'), '/stream_options', []);
  const declared = declaredIn(asked.tools, input, leftOut);
  const tools = declared.all;
  const { system, turns } = conversationOf(input, declared, leftOut);
  const conversation: Conversation = {
    system: [...instructionsIn(asked.instructions), ...system],
    turns,
    ...openAiToolChoice(asked.tool_choice, tools, choiceForm(declared), leftOut),
    allowsParallelCalls: leftOut.flagAt(asked.parallel_tool_calls, '/parallel_tool_calls') ?? true,
    maxTokens: leftOut.numberAt(asked.max_output_tokens, '/max_output_tokens')?.value ?? null,
    temperature: leftOut.numberAt(asked.temperature, '/temperature'),
    topP: leftOut.numberAt(asked.top_p, '/top_p'),
    topK: null,
    stopSequences: [],
    output: outputOf(asked.text, leftOut),
    reasoning: reasoningOf(asked.reasoning, leftOut),
    isStreamed: asked.stream === true,
    ...promptControl(body, leftOut),
  };
  return { conversation, tools: declared.clientTools, ignored: leftOut.pointers };
}

function instructionsIn(instructions: Json | undefined): ReadonlyArray<TextPart> {
  const text = textAt(instructions, '/instructions');
  return text === null || text === '' ? [] : [{ kind: 'text', text, pointer: '/instructions' }];
}

function reasoningOf(reasoning: Json | undefined, leftOut: LeftOut): Conversation['reasoning'] {
  const { effort: said } = leftOut.read(leftOut.objectAt(reasoning, '/reasoning'), '/reasoning', ['effort']);
  const pointer = '/reasoning/effort';
  const effort = effortAt(said, pointer, leftOut);
  return effort === null ? null : { effort, budgetTokens: null, pointer };
}

function outputOf(text: Json | undefined, leftOut: LeftOut): OutputForm | null {
  const { format } = leftOut.read(leftOut.objectAt(text, '/text'), '/text', ['format']);
  return openAiOutput(format, '/text/format', null, leftOut);
}

function declaredIn(tools: Json | undefined, input: Json | undefined, leftOut: LeftOut): DeclaredTools {
  const declared = new DeclaredTools(new ToolNames(), leftOut);
  declared.add(tools, '/tools');
  for (const [index, item] of listOr(input).entries()) {
    const { type, tools: added } = objectOr(item);
    if (type === 'additional_tools' || type === 'tool_search_output')
      declared.add(added, `/input/${index}/tools`, type === 'tool_search_output');
  }
  return declared;
}

/** OpenAI's reference: https://platform.openai.com/docs/api-reference/responses/create#responses-create-tool_choice. */
function choiceForm(declared: DeclaredTools): ChoiceForm {
  return {
    allowed: (choice) => [choice, '/tool_choice'],
    nameIn: (object, pointer) => declared.nameIn(object, pointer),
  };
}

function conversationOf(
  input: Json | undefined,
  declared: DeclaredTools,
  leftOut: LeftOut,
): Pick<Conversation, 'system' | 'turns'> {
  const turns = new TurnCollector();
  if (typeof input === 'string') turns.add({ role: 'user', parts: [{ kind: 'text', text: input, pointer: '/input' }] });
  const calls = new CallItems(declared, leftOut);
  for (const [index, item] of listOr(input).entries()) {
    const turn = isObject(item) ? turnOf(item, `/input/${index}`, calls, leftOut) : null;
    if (turn !== null) turns.add(turn);
  }
  return turns.collected;
}

/** The turn; null for an item that says nothing to targets of other protocols. */
function turnOf(item: JsonObject, pointer: string, calls: CallItems, leftOut: LeftOut): Turn | null {
  if (isHostedSearch(item)) {
    leftOut.add(pointer);
    return null;
  }
  const type = item.type ?? 'message';
  const ofCall = calls.turnOf(item, pointer);
  if (ofCall !== null) return ofCall;
  switch (type) {
    case 'message':
      return messageTurn(item, pointer, leftOut);
    case 'agent_message':
      return { role: 'user', parts: agentTexts(item, pointer, leftOut) };
    case 'reasoning':
      return { role: 'assistant', parts: [reasoningPart(item, pointer, leftOut)] };
    case 'additional_tools':
      leftOut.read(item, pointer, [...itemMembers, 'role', 'tools']);
      return null;
    default:
      if (!isTuning(type))
        return refuse(pointer, `an item of the type ${shown(type)} cannot be expressed for this target`);
      leftOut.add(pointer);
      return null;
  }
}

/** True if the item only tunes what follows, or is the short form of a history for the provider that made it. */
function isTuning(type: Json): boolean {
  if (typeof type !== 'string') return false;
  return type.startsWith('compaction') || type === 'context_compaction' || type === 'configuration_update';
}

/** True if OpenAI has searched for tools itself: what it found is declared. */
function isHostedSearch({ type, execution, call_id: id }: JsonObject): boolean {
  if (type !== 'tool_search_call' && type !== 'tool_search_output') return false;
  return (execution ?? (typeof id === 'string' ? 'client' : 'server')) !== 'client';
}

function messageTurn(item: JsonObject, pointer: string, leftOut: LeftOut): Turn {
  const { role, content } = leftOut.read(item, pointer, [...itemMembers, 'role', 'content']);
  const parts = withMessageControl(partsOf(content, `${pointer}/content`, leftOut), item, pointer, leftOut);
  if (role === 'user') return { role, parts };
  if (role === 'assistant') return { role, parts: onlyTexts(parts) };
  if (role === 'system' || role === 'developer') return { role: 'system', parts };
  return refuse(`${pointer}/role`, `the role ${shown(role)} cannot be expressed for this target`);
}

/** What another agent of Codex says to this one (codex-rs/protocol/src/models.rs). */
function agentTexts(item: JsonObject, pointer: string, leftOut: LeftOut): ReadonlyArray<TextPart> {
  const { content } = leftOut.read(item, pointer, [...itemMembers, 'content']);
  return onlyTexts(partsOf(content, `${pointer}/content`, leftOut));
}

/** The part of reasoning. No other protocol reads the provider's own opaque part. */
function reasoningPart(item: JsonObject, pointer: string, leftOut: LeftOut): ReasoningPart {
  const read = leftOut.read(item, pointer, [...itemMembers, 'summary', 'content', 'encrypted_content']);
  const { summary, content, encrypted_content: encrypted } = read;
  const text = [
    ...contentParts(content, `${pointer}/content`, (part, place) => textPart(part, place, leftOut)),
    ...contentParts(summary, `${pointer}/summary`, (part, place) => textPart(part, place, leftOut)),
  ]
    .flatMap((part) => part?.text ?? [])
    .join('\n\n');
  const value = textOr(encrypted);
  if (value === null || value === '') return { kind: 'reasoning', text, signature: null, pointer };
  const signature = signatureIn(value) ?? { of: foreignReasoning, value, isRedacted: text === '' };
  return { kind: 'reasoning', text, signature, pointer };
}
