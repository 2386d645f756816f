import type { ToolCallPart, ToolResultPart, Turn } from '#gateway/neutral/conversation.ts';
import { withCacheControl } from '#gateway/protocols/cache-control.ts';
import { toolCallPart, toolResultPart } from '#gateway/protocols/call-parts.ts';
import { freeTextArguments } from '#gateway/protocols/free-text.ts';
import type { LeftOut } from '#gateway/protocols/left-out.ts';
import { listAt, objectOr, refuse, textAt, textOr } from '#gateway/protocols/parsing.ts';
import { isObject, type Json, type JsonObject } from '#shared/json/json.ts';
import { argumentsMemberOf, argumentsOfCall, type BuiltInForm, calledBuiltIn } from './built-in-tools.ts';
import type { DeclaredTools } from './declared-tools.ts';
import { itemMembers, partsOf } from './item-content.ts';

/** The items of a history: calls of the client's tools, and what these gave back. */
export class CallItems {
  readonly #declared: DeclaredTools;
  readonly #leftOut: LeftOut;
  /** The ids of calls by the ids of their items, which the output of a local shell may name instead. */
  readonly #callIds = new Map<string, string>();

  constructor(declared: DeclaredTools, leftOut: LeftOut) {
    this.#declared = declared;
    this.#leftOut = leftOut;
  }

  /** The turn; null for an item that is neither a call nor an output. */
  turnOf(item: JsonObject, pointer: string): Turn | null {
    const call = this.#callIn(item, pointer);
    if (call !== null) return { role: 'assistant', parts: [withCacheControl(call, item, pointer, this.#leftOut)] };
    const result = this.#resultIn(item, pointer);
    if (result === null) return null;
    return { role: 'user', parts: [withCacheControl(result, item, pointer, this.#leftOut)] };
  }

  #callIn(item: JsonObject, pointer: string): ToolCallPart | null {
    if (item.type === 'function_call') return this.#namedCall(item, 'arguments', pointer);
    if (item.type === 'custom_tool_call') return this.#namedCall(item, 'input', pointer);
    const form = calledBuiltIn(item.type);
    return form === null ? null : this.#builtInCall(form, item, pointer);
  }

  #namedCall(item: JsonObject, member: 'arguments' | 'input', pointer: string): ToolCallPart {
    const members = [...itemMembers, 'call_id', 'name', 'namespace', member] as const;
    const { call_id: id, name, namespace, [member]: given } = this.#leftOut.read(item, pointer, members);
    const text = textAt(given, `${pointer}/${member}`);
    return toolCallPart(
      {
        id: textAt(id, `${pointer}/call_id`),
        name: this.#declared.nameOf(namespace, name, pointer),
        given: member === 'input' ? freeTextArguments(text ?? '') : text,
      },
      pointer,
    );
  }

  #builtInCall(form: BuiltInForm, item: JsonObject, pointer: string): ToolCallPart {
    const member = argumentsMemberOf(form);
    const members = [...itemMembers, 'call_id', 'execution', 'environment', member] as const;
    const { id: itemId, call_id: id, environment, [member]: given } = this.#leftOut.read(item, pointer, members);
    if (isObject(environment) && environment.type !== 'local')
      return refuse(pointer, 'a call that ran at OpenAI cannot be expressed for this target');
    this.#leftOut.read(objectOr(environment), `${pointer}/environment`, ['type']);
    const said = textAt(id, `${pointer}/call_id`);
    if (typeof itemId === 'string' && said !== null) this.#callIds.set(itemId, said);
    const callId = form === 'local_shell' ? (said ?? textOr(itemId)) : said;
    return toolCallPart(
      { id: callId, name: this.#declared.nameOfBuiltIn(form), given: argumentsOfCall(given) },
      pointer,
    );
  }

  #resultIn(item: JsonObject, pointer: string): ToolResultPart | null {
    switch (item.type) {
      case 'function_call_output':
      case 'custom_tool_call_output':
        return this.#result(item, pointer, (output, place) => partsOf(output, place, this.#leftOut));
      case 'tool_search_output':
        return this.#searchResult(item, pointer);
      case 'local_shell_call_output':
        return this.#localShellResult(item, pointer);
      case 'shell_call_output':
        return this.#result(item, pointer, (output, place) => textOf(JSON.stringify(listAt(output, place)), place));
      case 'apply_patch_call_output':
        return this.#patchResult(item, pointer);
      default:
        return null;
    }
  }

  #result(
    item: JsonObject,
    pointer: string,
    read: (output: Json | undefined, pointer: string) => ToolResultPart['parts'],
  ): ToolResultPart {
    const members = [...itemMembers, 'call_id', 'output', 'max_output_length'] as const;
    const { call_id: id, output } = this.#leftOut.read(item, pointer, members);
    return toolResultPart(textAt(id, `${pointer}/call_id`), read(output, `${pointer}/output`), pointer);
  }

  /** The result of a search. The found tools are declared, so a model needs only their names. */
  #searchResult(item: JsonObject, pointer: string): ToolResultPart {
    const members = [...itemMembers, 'call_id', 'execution', 'tools'] as const;
    const { call_id: id, tools } = this.#leftOut.read(item, pointer, members);
    const found = JSON.stringify({ tools: this.#declared.namesIn(tools) });
    return toolResultPart(textAt(id, `${pointer}/call_id`), textOf(found, `${pointer}/tools`), pointer);
  }

  #localShellResult(item: JsonObject, pointer: string): ToolResultPart {
    const members = [...itemMembers, 'call_id', 'output'] as const;
    const { id: itemId, call_id: said, output } = this.#leftOut.read(item, pointer, members);
    // OpenAI's reference has the id of the call in `id`.
    const id = textAt(said, `${pointer}/call_id`) ?? textOr(itemId);
    const callId = id === null ? null : (this.#callIds.get(id) ?? id);
    return toolResultPart(callId, partsOf(output, `${pointer}/output`, this.#leftOut), pointer);
  }

  #patchResult(item: JsonObject, pointer: string): ToolResultPart {
    const members = [...itemMembers, 'call_id', 'status', 'output'] as const;
    const { call_id: id, status, output } = this.#leftOut.read(item, pointer, members);
    const text = textAt(output, `${pointer}/output`) ?? textAt(status, `${pointer}/status`) ?? '';
    const result = toolResultPart(textAt(id, `${pointer}/call_id`), textOf(text, `${pointer}/output`), pointer);
    return { ...result, isError: status === 'failed' };
  }
}

function textOf(text: string, pointer: string): ToolResultPart['parts'] {
  return [{ kind: 'text', text, pointer }];
}
