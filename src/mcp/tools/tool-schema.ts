import { jsonSchema, members, requiredMembers } from '#application/operations/json-schema.ts';
import { type AnyOperation, effectOf } from '#application/operations/operation.ts';
import { DryRun } from '#domain/history/record.ts';
import type { JsonObject } from '#shared/json/json.ts';

/** The arguments that every writing tool has next to its operation's input. Over REST they are headers. */
const writeControls: Readonly<Record<string, JsonObject>> = {
  dryRun: {
    type: 'boolean',
    default: false,
    description: 'true: change nothing, and answer what would happen (dryRun, events, answer).',
  },
  idempotencyKey: {
    type: 'string',
    minLength: 1,
    maxLength: 255,
    description: 'The same key with the same arguments answers as the first time, for 24 hours at least.',
  },
  ifMatch: {
    type: 'integer',
    minimum: 0,
    description:
      'The revision that the resource must be at, as an earlier answer named it: refuses when it has changed.',
  },
};

const controlNames: ReadonlySet<string> = new Set(Object.keys(writeControls));

/** @throws Error if a member of the input has the name of one of the further arguments */
export function toolInputSchema(operation: AnyOperation): JsonObject & { readonly type: 'object' } {
  const schema = jsonSchema(operation.input);
  const properties = members(schema);
  const required = requiredMembers(schema);
  const clash = Object.keys(properties).find((name) => controlNames.has(name));
  if (clash !== undefined) throw new Error(`${operation.name}: "${clash}" is the name of an argument of every tool`);
  return {
    type: 'object',
    properties: { ...properties, ...(effectOf(operation).isReadOnly ? {} : writeControls) },
    ...(required.length > 0 ? { required } : {}),
  };
}

/**
 * True if the answer is an object. MCP accepts only objects, so any other answer becomes the member `result` of one.
 */
export function isAnswerObject({ output }: AnyOperation): boolean {
  return output !== null && jsonSchema(output).type === 'object';
}

export function toolOutputSchema(operation: AnyOperation): JsonObject & { readonly type: 'object' } {
  const { output } = operation;
  const answer = output === null ? { type: 'null' } : jsonSchema(output);
  const content = isAnswerObject(operation)
    ? answer
    : { type: 'object', properties: { result: answer }, required: ['result'] };
  if (effectOf(operation).isReadOnly) return { ...content, type: 'object' };
  return { type: 'object', anyOf: [content, jsonSchema(DryRun)] };
}
