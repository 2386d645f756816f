import type { Tool } from '@modelcontextprotocol/server';
import * as E from 'fp-ts/lib/Either.js';
import { type AnyOperation, effectOf } from '#application/operations/operation.ts';
import type { OperationRoute } from '#application/operations/registry.ts';
import { type Caller, checkScopes } from '#domain/shared/access.ts';
import type { Failure } from '#domain/shared/failure.ts';
import { invalidInput } from '#exchange/input-errors.ts';
import { toolInputSchema, toolOutputSchema } from './tool-schema.ts';

export interface OperationTool {
  readonly route: OperationRoute;
  readonly tool: Tool;
  /** The resource of its scope, such as `flows`; null if any valid key may use it. */
  readonly resource: string | null;
  readonly isReadOnly: boolean;
}

/** Resources without tools: uploads, downloads and batches of model calls are for programs. */
const resourcesWithoutTools: ReadonlySet<string> = new Set(['files', 'batches', 'gateway']);

/**
 * The catalogue has a tool for each command and query in the table of operations.
 * @throws Error if an input has a member with the name of an argument that every tool has
 */
export function createToolCatalogue(routes: ReadonlyArray<OperationRoute>): ReadonlyArray<OperationTool> {
  return routes.filter(({ operation }) => hasTool(operation)).map(toolOf);
}

export function hasTool(operation: AnyOperation): boolean {
  const isPlain = operation.kind === 'command' || operation.kind === 'query';
  return isPlain && !resourcesWithoutTools.has(resourceOf(operation) ?? '');
}

/** The tools within the caller's scopes and the connection's filter. */
export function visibleTools(
  catalogue: ReadonlyArray<OperationTool>,
  caller: Caller,
  filter: ToolFilter,
): ReadonlyArray<OperationTool> {
  return catalogue.filter((each) => passes(each, filter) && checkScopes(caller, each.route.operation) === null);
}

/** True if the tool passes the filter of a connection. */
export function passes({ isReadOnly, resource }: OperationTool, { readOnly, resources }: ToolFilter): boolean {
  if (readOnly && !isReadOnly) return false;
  return resources === null || resource === null || resources.has(resource);
}

function toolOf(route: OperationRoute): OperationTool {
  const { operation } = route;
  const { isReadOnly, isDestructive, isIdempotent } = effectOf(operation);
  const title = titleOf(operation.name);
  return {
    route,
    resource: resourceOf(operation),
    isReadOnly,
    tool: {
      name: operation.name,
      title,
      description: descriptionOf(operation),
      inputSchema: toolInputSchema(operation),
      outputSchema: toolOutputSchema(operation),
      annotations: {
        title,
        readOnlyHint: isReadOnly,
        destructiveHint: isDestructive,
        idempotentHint: isIdempotent,
        // Tools reach only Switchyard's own records.
        openWorldHint: false,
      },
    } as Tool,
  };
}

function resourceOf({ scope }: AnyOperation): string | null {
  return scope === null ? null : scope.slice(0, scope.indexOf(':'));
}

function neededScopes(scope: string, alsoScope: string | undefined): string {
  return alsoScope === undefined ? `Needs the scope ${scope}.` : `Needs the scopes ${scope} and ${alsoScope}.`;
}

/** `activate_flow_version` → `Activate flow version`. */
function titleOf(name: string): string {
  const words = name.replaceAll('_', ' ').replace(/\bapi\b/, 'API');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function descriptionOf({ summary, description, scope, alsoScope, paged }: AnyOperation): string {
  const sentences = [
    `${summary}.`,
    description,
    paged ? 'A page ends at 256 KiB: where the answer has nextCursor, call again with it as cursor.' : undefined,
    scope === null ? 'Any valid key may do this.' : neededScopes(scope, alsoScope),
  ];
  return sentences.filter((sentence) => sentence !== undefined).join(' ');
}

/** The filter of a connection. */
export interface ToolFilter {
  readonly readOnly: boolean;
  /** The resources whose tools are listed; null for all. */
  readonly resources: ReadonlySet<string> | null;
}

/**
 * Reads the filter from `?readonly=1` or the header `x-switchyard-readonly`, and `?tools=flows,templates`.
 * @param known all resources
 * @returns invalid-input for an unknown resource
 */
export function readToolFilter(
  query: URLSearchParams,
  readOnlyHeader: unknown,
  known: ReadonlySet<string>,
): E.Either<Failure, ToolFilter> {
  const wanted = query.get('tools');
  const names = wanted === null ? null : wanted.split(',').map((name) => name.trim());
  const unknown = names?.find((name) => !known.has(name));
  if (unknown !== undefined) {
    const message = `must be a list of these, with commas between: ${[...known].join(', ')}`;
    return E.left(invalidInput([{ pointer: '/tools', message }]));
  }
  const readOnly = isOn(query.get('readonly')) || isOn(readOnlyHeader);
  return E.right({ readOnly, resources: names === null ? null : new Set(names) });
}

/** Any value but a clear no means yes, so that a mistake never gives more rights. */
function isOn(value: unknown): boolean {
  return typeof value === 'string' && !['0', 'false', 'no'].includes(value.trim().toLowerCase());
}
