import { parseForeign, tooLargeJson } from '#gateway/framing/foreign-json.ts';
import type { ToolForm } from '#gateway/neutral/conversation.ts';
import { isObject, type Json, type JsonObject } from '#shared/json/json.ts';

/** A tool that OpenAI's models know without a declaration of its arguments, and that runs at the client. */
export type BuiltInForm = Exclude<ToolForm, 'function' | 'custom'>;

/** A tool that OpenAI's models know by its form. For targets of other protocols it is a function. */
interface BuiltInTool {
  /** What a model has to know that was not trained with the tool; null for what the client declares. */
  readonly description: string | null;
  /** The schema of its arguments, by OpenAI's reference; null for what the client declares. */
  readonly schema: string | null;
  readonly callType: string;
  readonly argumentsMember: 'arguments' | 'action' | 'operation';
  /** The members of a call with these arguments: an object, or the text of what is none. */
  readonly callWith: (given: JsonObject, text: string) => JsonObject;
}

const text = { type: 'string' } as const;
const milliseconds = { type: 'integer', description: 'The timeout in milliseconds' } as const;

/**
 * See https://developers.openai.com/api/reference/resources/responses/methods/create). Arguments that are not as the
 * tool takes them become those of a call that does nothing: the client answers it, and the model can try again.
 */
const builtInTools: Readonly<Record<BuiltInForm, BuiltInTool>> = {
  tool_search: {
    description: null,
    schema: null,
    callType: 'tool_search_call',
    argumentsMember: 'arguments',
    callWith: (given, faulty) => ({ execution: 'client', arguments: faulty === '' ? given : faulty }),
  },
  local_shell: {
    description: 'Runs a command on the local machine. `command` is the program and its arguments.',
    schema: schemaOf(
      {
        command: { type: 'array', items: text },
        env: { type: 'object', additionalProperties: text, description: 'Environment variables' },
        timeout_ms: milliseconds,
        user: { ...text, description: 'The user as whom it runs' },
        working_directory: text,
      },
      ['command'],
    ),
    callType: 'local_shell_call',
    argumentsMember: 'action',
    callWith: ({ command, env, timeout_ms: timeoutMs, user, working_directory: workingDirectory }) => ({
      action: {
        type: 'exec',
        command: textsIn(command),
        env: isObject(env) ? Object.fromEntries(Object.entries(env).map(([name, value]) => [name, String(value)])) : {},
        ...(isLimit(timeoutMs) ? { timeout_ms: timeoutMs } : {}),
        ...(typeof user === 'string' ? { user } : {}),
        ...(typeof workingDirectory === 'string' ? { working_directory: workingDirectory } : {}),
      },
    }),
  },
  shell: {
    description: 'Runs commands in a shell on the local machine, one after the other.',
    schema: schemaOf(
      {
        commands: { type: 'array', items: text },
        timeout_ms: milliseconds,
        max_output_length: { type: 'integer', description: 'Maximum characters of the output' },
      },
      ['commands'],
    ),
    callType: 'shell_call',
    argumentsMember: 'action',
    callWith: ({ commands, timeout_ms: timeoutMs, max_output_length: maxLength }) => ({
      action: {
        commands: textsIn(commands),
        timeout_ms: isLimit(timeoutMs) ? timeoutMs : null,
        max_output_length: isLimit(maxLength) ? maxLength : null,
      },
      environment: { type: 'local' },
    }),
  },
  apply_patch: {
    description:
      'Creates, updates or deletes one file. `diff` is a V4A diff without a header: each line of a new file begins with "+"; in an update, context lines begin with a space, removed lines with "-", added lines with "+", and a line "@@ " with the text of a line before them says where they are. A deletion has no diff.',
    schema: schemaOf(
      {
        type: { type: 'string', enum: ['create_file', 'update_file', 'delete_file'] },
        path: { ...text, description: 'The path of the file, relative to the workspace' },
        diff: text,
      },
      ['type', 'path'],
    ),
    callType: 'apply_patch_call',
    argumentsMember: 'operation',
    callWith: ({ type, path, diff }) => ({
      operation: {
        type: type === 'create_file' || type === 'delete_file' ? type : 'update_file',
        path: typeof path === 'string' ? path : '',
        ...(type === 'delete_file' ? {} : { diff: typeof diff === 'string' ? diff : '' }),
      },
    }),
  },
};

function schemaOf(properties: JsonObject, required: ReadonlyArray<string>): string {
  return JSON.stringify({ type: 'object', properties, required, additionalProperties: false });
}

/** The texts of a list; a text alone is one of them. Without one of its parts, a command would be another command. */
function textsIn(value: Json | undefined): ReadonlyArray<string> {
  if (typeof value === 'string') return [value];
  return Array.isArray(value) && value.every(isScalar) ? value.map(String) : [];
}

function isScalar(value: Json): boolean {
  return ['string', 'number', 'boolean'].includes(typeof value);
}

/**
 * True for a limit that Codex accepts. It drops a call whose limit is not a whole number
 * (codex-rs/protocol/src/models.rs).
 */
function isLimit(value: Json | undefined): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

export function isBuiltIn(type: Json | undefined): type is BuiltInForm {
  return typeof type === 'string' && Object.hasOwn(builtInTools, type);
}

/** The declaration for targets of other protocols. */
export function declarationOf(form: BuiltInForm): Pick<BuiltInTool, 'description' | 'schema'> {
  return builtInTools[form];
}

const formOfCall = new Map(Object.entries(builtInTools).map(([form, { callType }]) => [callType, form as BuiltInForm]));

/** The tool; null for a call of another type. */
export function calledBuiltIn(type: Json | undefined): BuiltInForm | null {
  return typeof type === 'string' ? (formOfCall.get(type) ?? null) : null;
}

export function argumentsMemberOf(form: BuiltInForm): BuiltInTool['argumentsMember'] {
  return builtInTools[form].argumentsMember;
}

export function argumentsOfCall(given: Json | undefined): string {
  if (typeof given === 'string') return given;
  if (!isObject(given)) return '{}';
  // The type of an action is always the same; that of an operation says what it does.
  return JSON.stringify(given.type === 'exec' ? { ...given, type: undefined } : given);
}

export function builtInCall(form: BuiltInForm, written: string): JsonObject & { readonly type: string } {
  const { callType: type, callWith } = builtInTools[form];
  const value = parseForeign(written);
  const isTaken = value !== tooLargeJson && isObject(value);
  return { type, ...callWith(isTaken ? value : {}, isTaken ? '' : written) };
}
