import type { AnyCommand } from '#application/commands/command.ts';
import type { AnyContentQuery } from '#application/queries/content-query.ts';
import type { AnyQuery } from '#application/queries/query.ts';

/** Operations, by what their input and answer are. */
export interface OperationTable {
  readonly commands: ReadonlyArray<AnyCommand>;
  readonly uploadCommands: ReadonlyArray<AnyCommand>;
  readonly queries: ReadonlyArray<AnyQuery>;
  readonly contentQueries: ReadonlyArray<AnyContentQuery>;
}

/** The operations of nodes with only the role `gateway`. */
export async function loadGatewayTable(): Promise<OperationTable> {
  const [{ gatewayCommands: commands, uploadCommands }, { gatewayQueries: queries, contentQueries }] =
    await Promise.all([import('#commands/gateway-table.ts'), import('#queries/gateway-table.ts')]);
  return { commands, uploadCommands, queries, contentQueries };
}

export async function loadFullTable(): Promise<OperationTable> {
  const [gateway, { commands }, { queries }] = await Promise.all([
    loadGatewayTable(),
    import('#commands/table.ts'),
    import('#queries/table.ts'),
  ]);
  return { ...gateway, commands, queries };
}
