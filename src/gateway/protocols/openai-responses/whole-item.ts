import { listOr, objectOr } from '#gateway/protocols/parsing.ts';
import type { JsonObject } from '#shared/json/json.ts';
import {
  type Emit,
  emitDelta,
  emitPartEnd,
  emitSummaryEnd,
  type PartPlace,
  partOf,
  summaryOf,
} from './output-items.ts';

export function emitInput(emit: Emit, place: JsonObject, input: string): void {
  if (input !== '') emit('response.custom_tool_call_input.delta', { ...place, delta: input });
  emit('response.custom_tool_call_input.done', { ...place, input });
}

/** Emits an item whose texts are one piece each. */
export function emitWholeItem(emit: Emit, index: number, item: JsonObject): void {
  const place = { item_id: typeof item.id === 'string' ? item.id : '', output_index: index };
  emit('response.output_item.added', { output_index: index, item: begunItem(item) });
  switch (item.type) {
    case 'message':
      emitParts(emit, place, item);
      break;
    case 'reasoning':
      emitSummaries(emit, place, item);
      break;
    case 'function_call':
      emit('response.function_call_arguments.delta', { ...place, delta: String(item.arguments) });
      emit('response.function_call_arguments.done', { ...place, name: item.name, arguments: item.arguments });
      break;
    case 'custom_tool_call':
      emitInput(emit, place, String(item.input));
      break;
    case 'shell_call':
      emitCommands(emit, index, item);
      break;
    case 'apply_patch_call':
      emitDiff(emit, place, item);
      break;
  }
  emit('response.output_item.done', { output_index: index, item });
}

/** The item as it is when it begins. */
function begunItem(item: JsonObject): JsonObject {
  const begun = 'status' in item ? { ...item, status: 'in_progress' } : item;
  switch (item.type) {
    case 'message':
      return { ...begun, content: [] };
    case 'reasoning':
      return { ...begun, summary: [] };
    case 'function_call':
      return { ...begun, arguments: '' };
    case 'custom_tool_call':
      return { ...begun, input: '' };
    case 'shell_call':
      return { ...begun, action: { ...objectOr(item.action), commands: [] } };
    case 'apply_patch_call':
      return { ...begun, operation: withoutDiff(objectOr(item.operation)) };
    default:
      return begun;
  }
}

function emitParts(emit: Emit, place: Omit<PartPlace, 'content_index'>, { content }: JsonObject): void {
  for (const [index, part] of objectsIn(content).entries()) {
    const partPlace = { ...place, content_index: index };
    const kind = part.type === 'refusal' ? 'refusal' : 'text';
    const text = String((kind === 'refusal' ? part.refusal : part.text) ?? '');
    emit('response.content_part.added', { ...partPlace, part: partOf(kind, '') });
    if (text !== '') emitDelta(emit, kind, partPlace, text);
    emitPartEnd(emit, kind, partPlace, text, part);
  }
}

function emitSummaries(emit: Emit, place: JsonObject, { summary }: JsonObject): void {
  for (const [index, { text }] of objectsIn(summary).entries()) {
    const summaryPlace = { ...place, summary_index: index };
    emit('response.reasoning_summary_part.added', { ...summaryPlace, part: summaryOf('') });
    emit('response.reasoning_summary_text.delta', { ...summaryPlace, delta: String(text) });
    emitSummaryEnd(emit, summaryPlace, String(text));
  }
}

function emitCommands(emit: Emit, index: number, { action }: JsonObject): void {
  for (const [commandIndex, command] of listOr(objectOr(action).commands).entries()) {
    const place = { output_index: index, command_index: commandIndex };
    emit('response.shell_call_command.added', { ...place, command: '' });
    emit('response.shell_call_command.delta', { ...place, delta: command });
    emit('response.shell_call_command.done', { ...place, command });
  }
}

function emitDiff(emit: Emit, place: JsonObject, { operation }: JsonObject): void {
  const { diff } = objectOr(operation);
  if (typeof diff !== 'string') return;
  if (diff !== '') emit('response.apply_patch_call_operation_diff.delta', { ...place, delta: diff });
  emit('response.apply_patch_call_operation_diff.done', { ...place, diff });
}

/** Removes the diff, because a deletion has none. */
function withoutDiff(operation: JsonObject): JsonObject {
  return 'diff' in operation ? { ...operation, diff: '' } : operation;
}

function objectsIn(list: JsonObject[string]): ReadonlyArray<JsonObject> {
  return Array.isArray(list) ? (list as ReadonlyArray<JsonObject>) : [];
}
