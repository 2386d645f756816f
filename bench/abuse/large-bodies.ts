import { type LargeCommand, largeCommands, send } from './large-commands.ts';
import type { AbuseScenario } from './scenario.ts';

const atOnce = 8;

let commands: ReadonlyArray<LargeCommand> = [];

/** Large commands of every kind, eight at the same time: of one kind, then of eight kinds. */
const largeBodies: AbuseScenario = {
  title: '8 control-plane bodies of 760 KiB at the same time',
  maxFreezeMs: 1_000,
  prepare: async ({ url }) => {
    commands = await largeCommands(url);
  },
  attack: async ({ url }) => {
    const repeatable = commands.filter(({ path }) => !path.endsWith('/phone-numbers'));
    for (const command of repeatable) {
      await Promise.all(Array.from({ length: atOnce }, () => send(url, command)));
    }
    for (let from = 0; from < commands.length; from += atOnce) {
      await Promise.all(commands.slice(from, from + atOnce).map((command) => send(url, command)));
    }
    return undefined;
  },
};

export default largeBodies;
