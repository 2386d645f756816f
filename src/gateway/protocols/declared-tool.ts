import type { Tool, ToolForm } from '#gateway/neutral/conversation.ts';
import type { Json, JsonObject } from '#shared/json/json.ts';
import { withCacheControl } from './cache-control.ts';
import { freeTextSchema } from './free-text.ts';
import type { LeftOut } from './left-out.ts';
import { refuse, textAt } from './parsing.ts';
import { shortName, type ToolNames } from './tool-names.ts';
import { schemaIn } from './tool-schema.ts';

/** The names for the schema of a tool's arguments in the protocols; the last is of MCP. */
const schemaNames = ['parameters', 'input_schema', 'inputSchema'] as const;

/** @param schemaName the member with the schema of its arguments */
export function functionTool(
  declared: JsonObject,
  schemaName: 'parameters' | 'input_schema',
  pointer: string,
  leftOut: LeftOut,
): Tool {
  const read = leftOut.read(declared, pointer, ['type', 'name', 'description', 'strict', schemaName]);
  const { name, description, strict } = read;
  const schema = schemaIn(read[schemaName]);
  if (schema === null) refuseSchema(declared, pointer, `is "${schemaName}" in this protocol`);
  else if (!schema.startsWith('{')) refuse(`${pointer}/${schemaName}`, 'must be a JSON Schema, which is an object');
  const tool = {
    ...describedTool('function', name, description, pointer),
    schema,
    isStrict: leftOut.flagAt(strict, `${pointer}/strict`),
  };
  return withCacheControl(tool, declared, pointer, leftOut);
}

/** A tool that takes a free text. No other protocol has a grammar (`format`) for one. */
export function freeTextTool(declared: JsonObject, pointer: string, leftOut: LeftOut): Tool {
  const { name, description } = leftOut.read(declared, pointer, ['type', 'name', 'description']);
  refuseSchema(declared, pointer, 'a custom tool takes a text, and has no schema: declare a function');
  const tool = { ...describedTool('custom', name, description, pointer), schema: freeTextSchema, isStrict: null };
  return withCacheControl(tool, declared, pointer, leftOut);
}

/** Refuses a schema that would be lost: without it, a model would make up the arguments. */
function refuseSchema(declared: JsonObject, pointer: string, message: string): void {
  const name = schemaNames.find((each) => schemaIn(declared[each]) !== null);
  if (name !== undefined) refuse(`${pointer}/${name}`, message);
}

function describedTool(
  form: ToolForm,
  name: Json | undefined,
  description: Json | undefined,
  pointer: string,
): Pick<Tool, 'name' | 'client' | 'description' | 'pointer'> {
  if (typeof name !== 'string') return refuse(`${pointer}/name`, 'must be the name of a tool');
  const client = { form, namespace: null, name: shortName(name, `${pointer}/name`) };
  return { name, client, description: textAt(description, `${pointer}/description`), pointer };
}

export function named(tool: Tool, names: ToolNames): Tool {
  const { namespace, name } = tool.client;
  return { ...tool, name: names.nameOf(namespace, name) };
}
