import { readdirSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { checkoutOf } from './beside/checkout.ts';
import { compare, type MeasureVersion } from './beside/compare.ts';
import { print } from './measure.ts';

interface Benchmark {
  readonly default: (args: string[]) => Promise<void>;
  /** Returns what is measured of each version; absent if the benchmark compares none. @throws Error for wrong arguments */
  readonly beside?: (args: ReadonlyArray<string>) => MeasureVersion;
}

/** Files in this folder that are not benchmarks. */
const helpers = new Set(['bench', 'install-packages', 'measure']);

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    beside: { type: 'string' },
    rounds: { type: 'string', default: '7' },
    quick: { type: 'boolean', default: false },
  },
});
const [name = '', ...further] = positionals;
const args = values.quick ? ['quick', ...further] : further;
const names = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.ts'))
  .map((file) => file.slice(0, -'.ts'.length))
  .filter((file) => !helpers.has(file));

if (names.includes(name)) {
  const benchmark = (await import(`./${name}.ts`)) as Benchmark;
  if (values.beside === undefined) await benchmark.default(args);
  else await runBeside(benchmark, values.beside, Number(values.rounds));
} else {
  print(`Which benchmark? npm run bench -- <name> [--beside COMMIT] [--rounds N], one of: ${names.join(', ')}`);
  process.exitCode = 1;
}

async function runBeside({ beside }: Benchmark, commit: string, rounds: number): Promise<void> {
  if (beside === undefined) {
    print(`The benchmark ${name} does not compare with another commit.`);
    process.exitCode = 1;
    return;
  }
  await compare(beside(args), checkoutOf(commit), rounds);
}
