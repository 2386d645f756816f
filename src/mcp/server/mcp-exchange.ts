import type { Caller } from '#domain/shared/tenancy.ts';
import type { ToolFilter } from '#mcp/tools/tool-filter.ts';

/** One request to `/mcp`, whose key is good. */
export interface McpExchange {
  readonly caller: Caller;
  readonly requestId: string;
  readonly filter: ToolFilter;
  /** The client reads text alone, so a tool's answer is in its text as a whole. */
  readonly wantsWholeText: boolean;
}
