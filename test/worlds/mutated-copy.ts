import { spawn } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A fault that a copy of the service gets. */
export interface Mutation {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

const root = new URL('../..', import.meta.url).pathname;
const copied = [
  'src',
  'commands',
  'queries',
  'projections',
  'test/worlds',
  'test/support',
  'package.json',
  'tsconfig.json',
];

/** The worlds that a copy runs: `count` from a seed on, until one shows a problem with a text. */
export interface CopiedWorlds {
  readonly from: number;
  readonly count: number;
  readonly until: string;
}

/** Runs worlds on a copy of the service with faults. @returns what `run-worlds.ts` prints */
export async function runWorldsOnCopy(mutations: ReadonlyArray<Mutation>, worlds: CopiedWorlds): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'worlds-'));
  try {
    for (const name of copied) await cp(join(root, name), join(folder, name), { recursive: true });
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
    for (const { file, from, to } of mutations) {
      const text = await readFile(join(folder, file), 'utf8');
      if (!text.includes(from)) throw new Error(`${file} has no ${from}`);
      await writeFile(join(folder, file), text.replace(from, to));
    }
    return await outputOf(folder, worlds);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function outputOf(folder: string, { from, count, until }: CopiedWorlds): Promise<string> {
  const worlds = [String(count), '--from', String(from), '--until', until];
  const child = spawn(process.execPath, ['test/worlds/run-worlds.ts', ...worlds], { cwd: folder });
  let output = '';
  child.stdout.on('data', (text) => {
    output += String(text);
  });
  child.stderr.on('data', (text) => {
    output += String(text);
  });
  return new Promise((resolve) => child.once('close', () => resolve(output)));
}
