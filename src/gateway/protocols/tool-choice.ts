import type { Conversation, Tool, ToolChoice } from '#gateway/neutral/conversation.ts';
import { isObject, type Json, type JsonObject } from '#shared/json/json.ts';
import type { LeftOut } from './left-out.ts';
import { listAt, objectOr, refuse } from './parsing.ts';

export interface ChoiceForm {
  /** The object with the mode and the tools, and its pointer. */
  readonly allowed: (choice: JsonObject, leftOut: LeftOut) => readonly [JsonObject, string];
  /** The name for targets; null for a tool that does not run at the client. */
  readonly nameIn: (object: JsonObject, pointer: string, leftOut: LeftOut) => string | null;
}

/**
 * The tools that the target gets, and which of them it may or must call. Of some tools (`allowed_tools`), those that
 * the client has not declared, or that run at OpenAI, are left out.
 */
export function openAiToolChoice(
  choice: Json | undefined,
  tools: ReadonlyArray<Tool>,
  form: ChoiceForm,
  leftOut: LeftOut,
): Pick<Conversation, 'tools' | 'toolChoice'> {
  if (choice === undefined || choice === null) return { tools, toolChoice: null };
  if (choice === 'auto' || choice === 'none') return { tools, toolChoice: { kind: choice } };
  if (choice === 'required') return { tools, toolChoice: anyTool(tools) };
  if (objectOr(choice).type === 'allowed_tools') return allowedTools(objectOr(choice), tools, form, leftOut);
  const name = isObject(choice) ? form.nameIn(choice, '/tool_choice', leftOut) : null;
  return { tools, toolChoice: forcedTool(name, tools) };
}

function allowedTools(
  choice: JsonObject,
  tools: ReadonlyArray<Tool>,
  { allowed: allowedIn, nameIn }: ChoiceForm,
  leftOut: LeftOut,
): Pick<Conversation, 'tools' | 'toolChoice'> {
  const [object, pointer] = allowedIn(choice, leftOut);
  const { mode, tools: listed } = leftOut.read(object, pointer, ['type', 'mode', 'tools']);
  const declared = new Set<string | null>(tools.map(({ name }) => name));
  const allowed = new Set<string | null>();
  for (const [index, each] of listAt(listed, `${pointer}/tools`).entries()) {
    const place = `${pointer}/tools/${index}`;
    const name = nameIn(objectOr(each), place, leftOut);
    if (declared.has(name)) allowed.add(name);
    else leftOut.add(place);
  }
  const kept = tools.filter(({ name }) => allowed.has(name));
  for (const { name, cacheControl } of tools)
    if (cacheControl !== undefined && !allowed.has(name)) leftOut.add(cacheControl.pointer);
  return { tools: kept, toolChoice: mode === 'required' ? anyTool(kept) : { kind: 'auto' } };
}

/** The choice of any tool, of which there must be one. */
export function anyTool(tools: ReadonlyArray<Tool>): ToolChoice {
  return tools.length === 0
    ? refuse('/tool_choice', 'demands a call of a tool, and this target gets no tool')
    : { kind: 'any' };
}

/** The choice of a tool, which must be there. @param name for targets */
export function forcedTool(name: string | null, tools: ReadonlyArray<Tool>): ToolChoice {
  const forced = tools.find((tool) => tool.name === name);
  return forced === undefined
    ? refuse('/tool_choice', 'this tool_choice cannot be expressed for this target')
    : { kind: 'tool', name: forced.name };
}
