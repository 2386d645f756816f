import { type AnyOperation, describeOperation } from '#application/operations/operation.ts';
import { createRoutes } from '#application/operations/registry.ts';
import { commands } from '#commands/table.ts';
import { createToolCatalogue } from '#mcp/tools/tool-catalogue.ts';
import { queries } from '#queries/table.ts';

/** The operations of both tables, without their dependencies. */
export const operations = [
  ...commands.map((each) => ({ ...each, ...describeOperation(each), kind: 'command', paged: false })),
  ...queries.map((each) => ({ ...each, ...describeOperation(each), kind: 'query', paged: each.paged === true })),
] as unknown as ReadonlyArray<AnyOperation>;

/** The tools of these operations. */
export const catalogue = createToolCatalogue(createRoutes(operations));
