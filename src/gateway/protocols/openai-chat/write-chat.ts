import type * as E from 'fp-ts/lib/Either.js';
import { JsonText, type WritableJson, writeJson } from '#gateway/framing/json-text.ts';
import type {
  Conversation,
  DocumentPart,
  ImagePart,
  OutputForm,
  Part,
  TextPart,
  Tool,
  ToolCallPart,
  ToolChoice,
  ToolResultPart,
  Turn,
  Unsupported,
} from '#gateway/neutral/conversation.ts';
import { urlOf } from '#gateway/neutral/source.ts';
import { orUnsupported, refuse } from '#gateway/protocols/parsing.ts';
import type { TargetModel, WrittenRequest } from '#gateway/protocols/protocol.ts';

type Message = Readonly<Record<string, WritableJson | undefined>>;

/**
 * Writes a chat request (https://platform.openai.com/docs/api-reference/chat/create).
 *
 * An assistant's texts become one content before its calls. Images of a tool's result follow as a user's message,
 * because a message of a tool holds texts alone.
 */
export function writeChat(conversation: Conversation, model: TargetModel): E.Either<Unsupported, WrittenRequest> {
  return orUnsupported(() => requestOf(conversation, model));
}

function requestOf(conversation: Conversation, target: TargetModel): WrittenRequest {
  const ignored = new Set<string>();
  const { system, turns, tools, maxTokens, temperature, topP, topK, stopSequences, output, reasoning } = conversation;
  if (topK !== null) ignored.add(topK.pointer);
  if (reasoning !== null && !target.reasoning && reasoning.effort !== 'none') ignored.add(reasoning.pointer);
  const limit = maxTokens ?? undefined;
  const body = writeJson({
    model: target.model,
    messages: [
      ...(system.length === 0 ? [] : [{ role: 'system', content: textIn(system) }]),
      ...turns.flatMap((turn) => messagesOf(turn, ignored)),
    ],
    ...(target.takesCompletionTokens ? { max_completion_tokens: limit } : { max_tokens: limit }),
    temperature: temperature?.value,
    top_p: topP?.value,
    stop: stopSequences.length === 0 ? undefined : stopSequences,
    tools: tools.length === 0 ? undefined : tools.map(toolOf),
    tool_choice: tools.length === 0 ? undefined : toolChoiceOf(conversation.toolChoice),
    parallel_tool_calls: tools.length > 0 && !conversation.allowsParallelCalls ? false : undefined,
    response_format: output === null ? undefined : formatOf(output),
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
      parameters: schema === null ? undefined : new JsonText(schema),
      strict: isStrict ?? undefined,
    },
  };
}

function toolChoiceOf(choice: ToolChoice | null): WritableJson | undefined {
  if (choice === null) return undefined;
  if (choice.kind === 'tool') return { type: 'function', function: { name: choice.name } };
  return choice.kind === 'any' ? 'required' : choice.kind;
}

function formatOf({ name, description, schema, isStrict }: OutputForm): WritableJson {
  if (schema === null) return { type: 'json_object' };
  const described = { name, description: description?.value, schema: new JsonText(schema) };
  return { type: 'json_schema', json_schema: { ...described, strict: isStrict ?? undefined } };
}

function messagesOf({ role, parts }: Turn, ignored: Set<string>): ReadonlyArray<Message> {
  if (role === 'system') return [{ role, content: textIn(parts) }];
  return role === 'assistant' ? assistantMessages(parts, ignored) : userMessages(parts, ignored);
}

/** The texts of the system as one, which more providers take than several. */
function textIn(parts: ReadonlyArray<Part>): string {
  return parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])).join('\n\n');
}

/** A turn of reasoning alone is left out with it: a message needs a content or a call. */
function assistantMessages(parts: ReadonlyArray<Part>, ignored: Set<string>): ReadonlyArray<Message> {
  const texts: string[] = [];
  const calls: ToolCallPart[] = [];
  for (const part of parts) {
    if (part.kind === 'text') texts.push(part.text);
    else if (part.kind === 'tool-call') calls.push(part);
    else if (part.kind === 'reasoning') ignored.add(part.pointer);
    else refuse(part.pointer, 'this target takes only texts and calls of tools from an assistant');
  }
  if (texts.length === 0 && calls.length === 0) return [];
  const content = texts.length === 0 ? null : texts.join('');
  return [{ role: 'assistant', content, tool_calls: calls.length === 0 ? undefined : calls.map(callOf) }];
}

function callOf({ id, name, arguments: given }: ToolCallPart): WritableJson {
  return { id, type: 'function', function: { name, arguments: given } };
}

/** Results must follow the calls at once, so they come before what the user says. */
function userMessages(parts: ReadonlyArray<Part>, ignored: Set<string>): ReadonlyArray<Message> {
  const results = parts.flatMap((part) => (part.kind === 'tool-result' ? [resultOf(part, ignored)] : []));
  const said = parts.flatMap(saidIn);
  return said.length === 0 ? results : [...results, { role: 'user', content: contentOf(said, ignored) }];
}

function saidIn(part: Part): ReadonlyArray<TextPart | ImagePart | DocumentPart> {
  if (part.kind === 'tool-result') return part.parts.filter(({ kind }) => kind !== 'text');
  if (part.kind === 'tool-call' || part.kind === 'reasoning') return refuse(part.pointer, 'a user cannot say this');
  return [part];
}

function resultOf({ callId, isError, parts, pointer }: ToolResultPart, ignored: Set<string>): Message {
  if (isError) ignored.add(`${pointer}/is_error`);
  const texts = parts.flatMap((part) => (part.kind === 'text' ? [part.text] : []));
  return { role: 'tool', tool_call_id: callId, content: texts.join('') };
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
