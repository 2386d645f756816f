import { type LargeCommand, largeCommands, send } from './large-commands.ts';
import type { AbuseScenario } from './scenario.ts';

let commands: ReadonlyArray<LargeCommand> = [];

/** Large commands of every kind, one after the other. */
const largeBody: AbuseScenario = {
  title: 'one control-plane body of 760 KiB',
  maxFreezeMs: 300,
  prepare: async ({ url }) => {
    commands = await largeCommands(url);
  },
  attack: async ({ url }) => {
    for (const command of commands) await send(url, command);
    return undefined;
  },
};

export default largeBody;
