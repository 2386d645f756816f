import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import '#test/support/run/temporary-files.ts';
import { type Attempt, Attempts, type Outcome } from './attempt.ts';
import { Checkout } from './checkout.ts';
import { chooseMutations, type Mutation } from './choose.ts';
import { ImportGraph } from './importers.ts';
import { MutatedTree } from './mutated-tree.ts';
import { changed } from './operators.ts';
import { PlacesOfCode } from './places-of-code.ts';

/**
 * Compares the tests of two commits: each change of one list is made in a copy of either, and the tests look for it. Stryker
 * does not fit: it chooses the changes of one state of the code, but lines move and files get other names between the two.
 */
const usage = `Usage: npm run mutations                    tries each change of test/mutations/mutations.json
         --tree <folder>     in another checkout; default: this one
         --out <file>        where the results go; a file that has some is continued
         --against <file>    results of another checkout: what it found must be found
         --only <id>,<id>    some of the changes
         --jobs <number>     at the same time; default: 2
       npm run mutations -- --choose <seed>     chooses other changes, by a seed
`;
const root = join(import.meta.dirname, '../..');
const list = join(import.meta.dirname, 'mutations.json');
const count = 200;
const limits = { maxTests: 24, cpuSeconds: 20 };
const limitsOfCostly = { maxTests: 4, cpuSeconds: 40 };
/** For a change that another checkout found: it counts as missed only after all tests that load the file. */
const cpuSecondsOfKnown = 2_000;

type LimitedTests = Pick<Attempt, 'tests' | 'cpuSeconds'>;

/** What became of a change. `gone`: the code has no such place. */
type Result = { readonly id: number; readonly file: string; readonly operator: string } & (
  | (Outcome & { readonly changedFile: string; readonly seconds: number })
  | { readonly state: 'gone' }
);

const { values } = parseArgs({
  options: {
    tree: { type: 'string', default: root },
    out: { type: 'string', default: join(root, 'test-artefacts/mutations.json') },
    against: { type: 'string' },
    only: { type: 'string' },
    jobs: { type: 'string', default: '2' },
    choose: { type: 'string' },
    help: { type: 'boolean' },
  },
});

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
if (values.help) print(usage);
else if (values.choose !== undefined) choose(Number(values.choose));
else await tryAll(new Checkout(values.tree));

function choose(seed: number): void {
  const mutations = chooseMutations(new Checkout(values.tree).product, count, seed);
  writeFileSync(list, `${JSON.stringify(mutations, null, 2)}\n`);
}

async function tryAll(checkout: Checkout): Promise<void> {
  const only = values.only?.split(',').map(Number);
  const results = new Map(readResults(values.out).map((result) => [result.id, result]));
  const known = new Map((values.against ? readResults(values.against) : []).map((result) => [result.id, result]));
  const mutations: ReadonlyArray<Mutation> = JSON.parse(readFileSync(list, 'utf8'));
  const waiting = mutations.filter(({ id }) => !results.has(id) && (only?.includes(id) ?? true));
  const places = new PlacesOfCode(checkout.product);
  const graph = new ImportGraph(checkout.sources, checkout.aliases);
  const unchanged = new Map();

  const work = async () => {
    const attempts = new Attempts(new MutatedTree(checkout), unchanged);
    for (let mutation = waiting.shift(); mutation !== undefined; mutation = waiting.shift()) {
      const result = await tryOne(mutation, attempts);
      results.set(result.id, result);
      print(`${lineOf(result)}\n`);
      write(results);
    }
  };

  const tryOne = async (mutation: Mutation, attempts: Attempts): Promise<Result> => {
    const { id, file, operator } = mutation;
    const place = places.find(mutation);
    if (place === null) return { id, file, operator, state: 'gone' };
    const text = changed(place.text, place.change);
    const began = performance.now();
    let outcome: Outcome = { state: 'missed', tests: 0 };
    for (const limited of testsOf(place.path, known.get(id)))
      if (outcome.state === 'missed') outcome = await attempts.try({ file: place.path, text, ...limited });
    const seconds = Math.round(performance.now() - began) / 1000;
    return { id, file, operator, ...outcome, changedFile: place.path, seconds };
  };

  const testsOf = (path: string, earlier: Result | undefined): ReadonlyArray<LimitedTests> => {
    const [tests, costly] = [graph.testsOf(path), graph.costlyTestsOf(path)];
    if (earlier?.state !== 'found') return [limitedTo(tests, limits), limitedTo(costly, limitsOfCostly)];
    const { by, title } = earlier;
    const all = [...tests, ...costly];
    const hasTitle = (test: string) => graph.titlesIn(test).some((other) => title?.endsWith(other));
    const likely = [...all.filter((test) => test === by), ...all.filter(hasTitle)];
    return [{ tests: [...new Set([...likely, ...all])], cpuSeconds: cpuSecondsOfKnown }];
  };

  await Promise.all(Array.from({ length: Number(values.jobs) }, work));
  report([...results.values()], known);
}

function limitedTo(
  tests: ReadonlyArray<string>,
  { maxTests, cpuSeconds }: { readonly maxTests: number; readonly cpuSeconds: number },
): LimitedTests {
  return { tests: tests.slice(0, maxTests), cpuSeconds };
}

function readResults(file: string): ReadonlyArray<Result> {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : [];
}

function write(results: ReadonlyMap<number, Result>): void {
  mkdirSync(dirname(values.out), { recursive: true });
  const inOrder = [...results.values()].sort((one, other) => one.id - other.id);
  writeFileSync(`${values.out}.new`, `${JSON.stringify(inOrder, null, 2)}\n`);
  renameSync(`${values.out}.new`, values.out);
}

function report(results: ReadonlyArray<Result>, known: ReadonlyMap<number, Result>): void {
  for (const [state, some] of Map.groupBy(results, ({ state }) => state)) print(`${some.length} ${state}\n`);
  const lost = results.filter(({ id, state }) => state !== 'found' && known.get(id)?.state === 'found');
  for (const result of lost) print(`was found before: ${lineOf(result)}\n`);
  process.exit(lost.length === 0 ? 0 : 1);
}

function lineOf(result: Result): string {
  const { id, state, file, operator } = result;
  const by = 'by' in result ? ` by ${result.by}` : '';
  const seconds = 'seconds' in result ? ` (${Math.round(result.seconds)} s)` : '';
  return `${id} ${state}${by}: ${operator} in ${file}${seconds}`;
}

function print(text: string): void {
  process.stdout.write(text);
}
