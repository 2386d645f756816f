import { readdirSync } from 'node:fs';
import { print } from './measure.ts';

/** Files in this folder that are not benchmarks. */
const helpers = new Set(['bench', 'measure']);

const [name = ''] = process.argv.slice(2);
const names = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.ts'))
  .map((file) => file.slice(0, -'.ts'.length))
  .filter((file) => !helpers.has(file));

if (names.includes(name)) {
  const { default: run } = (await import(`./${name}.ts`)) as { default: (args: string[]) => Promise<void> };
  await run(process.argv.slice(3));
} else {
  print(`Which benchmark? npm run bench -- <name>, one of: ${names.join(', ')}`);
  process.exitCode = 1;
}
