import { RepositoryCopy } from '#test/support/service/repository-copy.ts';

/** A fault that a copy of the service gets. */
export interface Mutation {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** The worlds that a copy runs: `count` from a seed on, until one shows a problem with a text. */
export interface CopiedWorlds {
  readonly from: number;
  readonly count: number;
  readonly until: string;
}

/** Runs worlds on a copy of the service with faults. @returns what `run-worlds.ts` prints */
export async function runWorldsOnCopy(
  mutations: ReadonlyArray<Mutation>,
  { from: first, count, until }: CopiedWorlds,
): Promise<string> {
  await using copy = await RepositoryCopy.make();
  for (const { file, from, to } of mutations) {
    const text = await copy.read(file);
    if (!text.includes(from)) throw new Error(`${file} has no ${from}`);
    await copy.write(file, text.replace(from, to));
  }
  const worlds = [String(count), '--from', String(first), '--until', until];
  return (await copy.run('test/worlds/run-worlds.ts', worlds)).output;
}
