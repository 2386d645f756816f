import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Checkout } from './checkout.ts';

/** A program with its arguments, to run in the folder of its checkout. */
export interface NodeCommand {
  readonly program: string;
  readonly args: ReadonlyArray<string>;
}

interface Package {
  readonly scripts: { readonly start: string };
}

/**
 * Returns what `npm start` of a checkout runs, without npm: its locked Node with the same flags.
 * @throws Error if `npm start` runs another program
 */
export function startCommand(checkout: Checkout): NodeCommand {
  const { scripts } = JSON.parse(readFileSync(join(checkout.folder, 'package.json'), 'utf8')) as Package;
  const [program, ...args] = scripts.start.split(' ');
  if (program !== 'node') throw new Error(`npm start of ${checkout.name} runs ${program}, not node.`);
  return { program: nodeOf(checkout), args };
}

/** Returns the Node that a checkout has installed, else the one that runs this. */
export function nodeOf({ folder }: Checkout): string {
  const locked = join(folder, 'node_modules/.bin/node');
  return existsSync(locked) ? locked : process.execPath;
}

/** Returns the environment of this process, without what would make one version use what belongs to another. */
export function sharedEnvironment(): NodeJS.ProcessEnv {
  const { NODE_COMPILE_CACHE: _, ...environment } = process.env;
  return environment;
}
