import { type CommandDependencies, commandOperation } from '#application/commands/execute-command.ts';
import { uploadOperation } from '#application/files/upload-operation.ts';
import type { AnyOperation } from '#application/operations/operation.ts';
import { downloadOperation } from '#application/queries/content-query.ts';
import { type QueryDependencies, queryOperation } from '#application/queries/query-handler.ts';
import { uploadCommands } from '#commands/gateway-table.ts';
import { commands } from '#commands/table.ts';
import { gatewayOperations } from '#gateway/operations.ts';
import { contentQueries } from '#queries/gateway-table.ts';
import { queries } from '#queries/table.ts';
import { usualLimits } from '#test/gateway/support/gateway-service.ts';

/** Every operation of the service, to be described and not executed: their dependencies are empty. */
export function allOperations(): ReadonlyArray<AnyOperation> {
  return [
    ...commands.map((command) => commandOperation(command, {} as CommandDependencies)),
    ...uploadCommands.map((command) => uploadOperation(command, {} as never)),
    ...queries.map((query) => queryOperation(query, { services: {} } as QueryDependencies)),
    ...contentQueries.map((query) => downloadOperation(query, {} as never)),
    ...gatewayOperations(null, usualLimits),
  ];
}
