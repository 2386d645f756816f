import type * as E from 'fp-ts/lib/Either.js';
import { JsonText, type WritableJson, writeJson } from '#gateway/framing/json-text.ts';
import {
  type Conversation,
  type DocumentPart,
  type ImagePart,
  isBlank,
  isBlankText,
  type OutputForm,
  type Part,
  type TextPart,
  type Tool,
  type ToolCallPart,
  type ToolChoice,
  type ToolResultPart,
  type Unsupported,
} from '#gateway/neutral/conversation.ts';
import { pairCalls } from '#gateway/neutral/paired-calls.ts';
import { urlOf } from '#gateway/neutral/source.ts';
import { leaveOutCacheControl } from '#gateway/protocols/cache-control.ts';
import { callIdForChat } from '#gateway/protocols/call-id-rules.ts';
import { orUnsupported, refuse } from '#gateway/protocols/parsing.ts';
import type { WrittenRequest } from '#gateway/protocols/protocol.ts';
import type { TargetModel } from '#gateway/protocols/target-model.ts';
import { schemaWith } from '#gateway/protocols/tool-schema.ts';
import { ReturnedState } from './returned-state.ts';

type Message = Readonly<Record<string, WritableJson | undefined>>;

/**
 * https://platform.openai.com/docs/api-reference/chat/create. An assistant's texts become one content before its calls.
 * Images of a tool's result follow as a user's message, because a message of a tool holds texts alone.
 */
export function writeChat(conversation: Conversation, model: TargetModel): E.Either<Unsupported, WrittenRequest> {
  return orUnsupported(() => requestOf(conversation, model));
}

function requestOf(conversation: Conversation, target: TargetModel): WrittenRequest {
  const ignored = new Set<string>();
  leaveOutCacheControl(conversation, ignored);
  const { system, tools, temperature, topP, topK, output, reasoning } = conversation;
  if (topK !== null) ignored.add(topK.pointer);
  if (reasoning !== null && !target.reasoning && reasoning.effort !== 'none') ignored.add(reasoning.pointer);
  const turns = pairCalls(conversation.turns);
  const returned = new ReturnedState(turns, target, ignored);
  const body = writeJson({
    model: target.model,
    messages: [
      ...systemMessages(system),
      ...turns.flatMap(({ role, parts }, index) => {
        if (role === 'system') return systemMessages(parts);
        return role === 'user' ? userMessages(parts, ignored) : assistantMessages(parts, index, returned, ignored);
      }),
    ],
    [target.maxTokens]: conversation.maxTokens ?? undefined,
    temperature: temperature?.value,
    top_p: topP?.value,
    stop: stopsOf(conversation, ignored),
    tools: tools.length === 0 ? undefined : tools.map(toolOf),
    tool_choice: tools.length === 0 ? undefined : toolChoiceOf(conversation.toolChoice),
    parallel_tool_calls: tools.length > 0 && !conversation.allowsParallelCalls ? false : undefined,
    response_format: output === null ? undefined : formatOf(output, ignored),
    reasoning_effort: reasoning !== null && target.reasoning ? reasoning.effort : undefined,
    ...(conversation.isStreamed ? { stream: true, stream_options: { include_usage: true } } : {}),
  });
  return { body: Buffer.from(body), ignored: [...ignored] };
}

function toolOf({ name, description, schema, isStrict }: Tool): WritableJson {
  return {
    type: 'function',
    function: {
      name,
      description: description ?? undefined,
      parameters: schema === null ? undefined : new JsonText(schemaWith(schema, ['type', 'properties'])),
      strict: isStrict ?? undefined,
    },
  };
}

function toolChoiceOf(choice: ToolChoice | null): WritableJson | undefined {
  if (choice === null) return undefined;
  if (choice.kind === 'tool') return { type: 'function', function: { name: choice.name } };
  return choice.kind === 'any' ? 'required' : choice.kind;
}

/** Any JSON has no description. */
function formatOf({ name, description, schema, isStrict }: OutputForm, ignored: Set<string>): WritableJson {
  if (schema === null) {
    if (description !== null) ignored.add(description.pointer);
    return { type: 'json_object' };
  }
  const described = { name, description: description?.value, schema: new JsonText(schema) };
  return { type: 'json_schema', json_schema: { ...described, strict: isStrict ?? undefined } };
}

/** Maximum number of stop sequences. OpenAI refuses more than four. */
const maxStops = 4;

function stopsOf({ stopSequences }: Conversation, ignored: Set<string>): WritableJson | undefined {
  for (const { pointer } of stopSequences.slice(maxStops)) ignored.add(pointer);
  const stops = stopSequences.slice(0, maxStops).map(({ value }) => value);
  return stops.length === 0 ? undefined : stops;
}

/** Joins the texts of the system, because more providers take one than several. */
function systemMessages(parts: ReadonlyArray<Part>): ReadonlyArray<Message> {
  const texts = parts.flatMap((part) => (part.kind === 'text' && !isBlank(part.text) ? [part.text] : []));
  return texts.length === 0 ? [] : [{ role: 'system', content: texts.join('\n\n') }];
}

/**
 * The messages of the assistant. A turn of reasoning alone is left out with it: a message needs a content or a call.
 */
function assistantMessages(
  parts: ReadonlyArray<Part>,
  turn: number,
  returned: ReturnedState,
  ignored: Set<string>,
): ReadonlyArray<Message> {
  const texts: string[] = [];
  const calls: ToolCallPart[] = [];
  for (const part of parts) {
    if (part.kind === 'text') texts.push(part.text);
    else if (part.kind === 'tool-call') calls.push(part);
    else if (part.kind !== 'reasoning')
      refuse(part.pointer, 'this target takes only texts and calls of tools from an assistant');
  }
  const text = texts.join('');
  if (isBlank(text) && calls.length === 0) {
    for (const { pointer } of parts.filter(({ kind }) => kind === 'reasoning')) ignored.add(pointer);
    return [];
  }
  const content = isBlank(text) ? null : text;
  const written = calls.map((call, index) => ({ ...callOf(call), ...returned.ofCall(call, index === 0, turn) }));
  const toolCalls = written.length === 0 ? undefined : written;
  return [{ role: 'assistant', content, ...returned.ofMessage(parts, turn), tool_calls: toolCalls }];
}

function callOf({ id, name, arguments: given }: ToolCallPart): Message {
  return { id: callIdForChat(id), type: 'function', function: { name, arguments: isBlank(given) ? '{}' : given } };
}

/**
 * The messages of the user. Results stay before what the user says after them. A blank text next to others is left out,
 * which Moonshot refuses; one alone passes as it came.
 */
function userMessages(parts: ReadonlyArray<Part>, ignored: Set<string>): ReadonlyArray<Message> {
  if (parts.every(isBlankText)) return [{ role: 'user', content: contentOf(parts.flatMap(saidIn), ignored) }];
  return runsOf(parts).flatMap((run) => {
    const results = run.flatMap((part) => (part.kind === 'tool-result' ? [resultOf(part, ignored)] : []));
    const said = run.flatMap(saidIn).filter((part) => part.kind !== 'text' || part.text !== '');
    return said.every(isBlankText) ? results : [...results, { role: 'user', content: contentOf(said, ignored) }];
  });
}

/** Runs of results and what the user says after them: a result without a call may come later. */
function runsOf(parts: ReadonlyArray<Part>): ReadonlyArray<ReadonlyArray<Part>> {
  const runs: Part[][] = [];
  for (const part of parts) {
    const run = runs.at(-1);
    if (run === undefined || (part.kind === 'tool-result' && run.at(-1)?.kind !== 'tool-result')) runs.push([part]);
    else run.push(part);
  }
  return runs;
}

function saidIn(part: Part): ReadonlyArray<TextPart | ImagePart | DocumentPart> {
  if (part.kind === 'tool-result') return part.parts.filter(({ kind }) => kind !== 'text');
  if (part.kind === 'tool-call' || part.kind === 'reasoning') return refuse(part.pointer, 'a user cannot say this');
  return [part];
}

function resultOf({ callId, isError, parts, pointer }: ToolResultPart, ignored: Set<string>): Message {
  if (isError) ignored.add(`${pointer}/is_error`);
  const texts = parts.flatMap((part) => (part.kind === 'text' ? [part.text] : []));
  return { role: 'tool', tool_call_id: callIdForChat(callId), content: texts.join('') };
}

function contentOf(parts: ReadonlyArray<TextPart | ImagePart | DocumentPart>, ignored: Set<string>): WritableJson {
  const [only] = parts;
  if (parts.length === 1 && only?.kind === 'text') return only.text;
  return parts.map((part) => partOf(part, ignored));
}

function partOf(part: TextPart | ImagePart | DocumentPart, ignored: Set<string>): WritableJson {
  if (part.kind === 'text') return { type: 'text', text: part.text };
  if (part.kind === 'image')
    return { type: 'image_url', image_url: { url: urlOf(part.source), detail: part.detail?.value } };
  const { source, name, pointer } = part;
  if (source.kind === 'url') return refuse(pointer, 'this target takes a document in Base64, and no address of one');
  if (source.kind === 'base64')
    return { type: 'file', file: { filename: name?.value ?? 'document.pdf', file_data: urlOf(source) } };
  if (name !== null) ignored.add(name.pointer);
  return { type: 'text', text: source.text };
}
