import type { Failure } from '#domain/shared/failure.ts';
import type { Authorised } from '#exchange/request.ts';
import type { ToolFilter } from '#mcp/tools/tool-catalogue.ts';
import type { JsonObject } from '#shared/json/json.ts';

export interface McpRequest {
  readonly request: Authorised;
  readonly filter: ToolFilter;
  /** Whether the client reads only text, so that the text must contain a tool's whole answer. */
  readonly wantsWholeText: boolean;
  /** The arguments of the called tool. The message has none, because the official server copies all that it has. */
  readonly toolArguments: JsonObject;
  /** Why the arguments of the called tool cannot be taken as they were sent; null if they can. */
  readonly inputFault: Failure | null;
}
