import type { MongoClient } from 'mongodb';

/** A command that has ended. It contains nothing of what the command says. */
export interface EndedCommand {
  /** One of `knownCommands`, or `other`. */
  readonly command: string;
  /** `failed`: refused by the server, or not answered. */
  readonly outcome: 'succeeded' | 'failed';
  /** The time from its first byte to its answer. */
  readonly milliseconds: number;
}

/** It never throws. */
export type OnCommand = (ended: EndedCommand) => void;

/** The commands with a name of their own in metrics, to keep labels few. */
const knownCommands: ReadonlySet<string> = new Set([
  'aggregate',
  'buildInfo',
  'create',
  'createIndexes',
  'delete',
  'drop',
  'endSessions',
  'find',
  'findAndModify',
  'getMore',
  'insert',
  'killCursors',
  'listCollections',
  'listIndexes',
  'ping',
  'update',
]);

/** The client must be made with `monitorCommands`. */
export function monitorCommands(client: MongoClient, onCommand: OnCommand): void {
  const report =
    (outcome: EndedCommand['outcome']) =>
    ({ commandName, duration }: { readonly commandName: string; readonly duration: number }) =>
      onCommand({
        command: knownCommands.has(commandName) ? commandName : 'other',
        outcome,
        milliseconds: duration,
      });
  client.on('commandSucceeded', report('succeeded')).on('commandFailed', report('failed'));
}
