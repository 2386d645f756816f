import type { ToolCallPart, ToolResultPart } from '#gateway/neutral/conversation.ts';
import type { Json } from '#shared/json/json.ts';
import { readCallId } from './call-state.ts';
import type { ContentPart } from './content-parts.ts';
import { textAt } from './parsing.ts';
import { shortName, type ToolNames } from './tool-names.ts';

interface CallMembers {
  /** The id as the client echoes it. */
  readonly id: string | null;
  /** The name for targets. */
  readonly name: string;
  /** The arguments as JSON text. */
  readonly given: string | null;
}

export function toolCallPart({ id: echoed, name, given }: CallMembers, pointer: string): ToolCallPart {
  const { id, state } = readCallId(echoed ?? '');
  return { kind: 'tool-call', id, name, arguments: given ?? '', state, pointer };
}

/** @param callId as the client echoes it */
export function toolResultPart(
  callId: string | null,
  parts: ReadonlyArray<ContentPart>,
  pointer: string,
): ToolResultPart {
  return { kind: 'tool-result', callId: readCallId(callId ?? '').id, isError: false, parts, pointer };
}

/** The name of the called tool for targets. */
export function calledName(
  name: Json | undefined,
  pointer: string,
  names: ToolNames,
  namespace: string | null = null,
): string {
  return names.nameOf(namespace, shortName(textAt(name, pointer) ?? '', pointer));
}
