import type { AnyCommand, LoadedStream } from '#application/commands/command.ts';
import { type CommandDependencies, commandOperation } from '#application/commands/execute-command.ts';
import type { UploadOperation } from '#application/operations/operation.ts';
import type { FileUploads } from './file-uploads.ts';

export function uploadOperation(
  definition: AnyCommand,
  runtime: CommandDependencies & { readonly uploads: Pick<FileUploads, 'receive'> },
): UploadOperation<LoadedStream<unknown>> {
  const operation = commandOperation(definition, runtime);
  return {
    ...operation,
    kind: 'upload',
    consumes: 'multipart/form-data',
    hasRevision: false,
    receive: (source) => runtime.uploads.receive(source),
  };
}
